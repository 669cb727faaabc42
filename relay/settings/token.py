"""The token, kept in the state folder between runs."""

import os
import secrets
from contextlib import suppress
from pathlib import Path

from relay.settings.error import SettingsError
from relay.settings.kinds import TOKEN_PATTERN
from relay.settings.table import Settings


def token_path(settings: Settings) -> Path:
    """Where the token is kept between runs."""
    return settings.state_dir / "token"


def load_token(settings: Settings) -> str:
    """The token: the setting, else the state folder's file. Raises: SettingsError."""
    if settings.token is not None:
        return settings.token
    path = token_path(settings)
    try:
        token = path.read_text("ascii").strip()
    except FileNotFoundError:
        raise SettingsError(
            f"no token yet in {path}; start `voicebox serve` or set VOICEBOX_TOKEN"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"the token in {path} can't be read: {error}") from None
    if not TOKEN_PATTERN.fullmatch(token):
        raise SettingsError(f"{path} holds no token; `voicebox token rotate` makes a new one")
    return token


def ensure_token(settings: Settings) -> str:
    """The token; makes one at the first start. Raises: SettingsError."""
    if settings.token is None and not os.path.lexists(token_path(settings)):
        return rotate_token(settings)
    return load_token(settings)


def rotate_token(settings: Settings) -> str:
    """Write a new token, readable by its owner only, and return it. Raises: SettingsError."""
    path = token_path(settings)
    token = "vbx_" + secrets.token_hex(24)
    fresh = path.with_name(f"token.{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(token + "\n")
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except OSError as error:
        with suppress(OSError):
            fresh.unlink()
        raise SettingsError(f"the token can't be written to {path}: {error.strerror}") from None
    return token
