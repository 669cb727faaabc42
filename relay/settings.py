"""How this process runs: the only reader of the environment.

Bounds of the contract are in `relay.protocol.limits`; nothing below `relay.server` imports
this module.
"""

import os
import pwd
import re
import secrets
from collections.abc import Mapping
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from msgspec import Struct

from relay.miniapps.places import Places
from relay.providers.secret import Secret

PREFIX = "VOICEBOX_"
TOKEN_PATTERN = re.compile(r"vbx_[0-9a-f]{48}")
LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")
_PORT_MAX = 65_535
_FOLDERS = frozenset(
    {"wasm_shelf_dir", "script", "state_dir", "workspace", "extensions_dir", "sandbox_homes"}
)
_PORT_MAX_DIGITS = len(str(_PORT_MAX))


class SettingsError(Exception):
    """A setting is unknown or has a value that can't be used; the text says which and why."""


class Settings(Struct, frozen=True, kw_only=True):
    """One process's settings; a field `x` is read from `VOICEBOX_X` (see `ENVIRONMENT`)."""

    host: str = "127.0.0.1"
    port: int = 8787
    allow_remote: bool = False
    public_host: str | None = None
    token: str | None = None
    provider: str = "embedded"
    wasm_shelf_dir: Path | None = None
    workspace: Path | None = None
    extensions_dir: Path | None = None
    sandbox_homes: Path | None = None
    script: Path | None = None
    openai_api_key: Secret | None = None
    openai_base_url: str | None = None
    openai_model: str | None = None
    openai_voice: str | None = None
    openai_vad: str | None = None
    openai_transcription: str | None = None
    gemini_api_key: Secret | None = None
    gemini_base_url: str | None = None
    gemini_model: str | None = None
    gemini_voice: str | None = None
    gemini_vad: str | None = None
    instructions: str | None = None
    frame_args: bool = False
    log_level: str = "info"
    log_json: bool = False
    state_dir: Path
    home: Path


class Setting(Struct, frozen=True):
    """One environment variable: the field that it fills and what it means."""

    field: str
    meaning: str


ENVIRONMENT: dict[str, Setting] = {
    "VOICEBOX_HOST": Setting("host", "Address to listen on; loopback unless remote is allowed."),
    "VOICEBOX_PORT": Setting("port", "Port to listen on; 0 takes a free one."),
    "VOICEBOX_ALLOW_REMOTE": Setting("allow_remote", "1 allows a host that is not loopback."),
    "VOICEBOX_PUBLIC_HOST": Setting(
        "public_host", "Host (with its port, if any) by which remote people reach the relay."
    ),
    "VOICEBOX_TOKEN": Setting("token", "The token, instead of the one in the state folder."),
    "VOICEBOX_LIVE_PROVIDER": Setting(
        "provider", "The live model: embedded, openai, gemini or script."
    ),
    "VOICEBOX_WASM_SHELF_DIR": Setting("wasm_shelf_dir", "Folder of the WebAssembly shelf."),
    "VOICEBOX_WORKSPACE": Setting("workspace", "Folder of your own mini-apps and pages."),
    "VOICEBOX_EXTENSIONS_DIR": Setting(
        "extensions_dir", "Folder whose `mini-apps` folder keeps the saved mini-apps."
    ),
    "VOICEBOX_SANDBOX_HOMES": Setting(
        "sandbox_homes", "Folder of sandboxes, each a folder whose pages can be launched."
    ),
    "VOICEBOX_SCRIPT": Setting("script", "JSON file that the script provider plays."),
    "OPENAI_API_KEY": Setting("openai_api_key", "Key for the openai provider."),
    "VOICEBOX_OPENAI_BASE_URL": Setting("openai_base_url", "Server that speaks OpenAI Realtime."),
    "VOICEBOX_OPENAI_MODEL": Setting("openai_model", "Model of the openai provider."),
    "VOICEBOX_OPENAI_VOICE": Setting("openai_voice", "Voice of the openai provider."),
    "VOICEBOX_OPENAI_VAD": Setting("openai_vad", "server_vad, semantic_vad or none."),
    "VOICEBOX_OPENAI_TRANSCRIPTION": Setting(
        "openai_transcription", "Model that writes down what the person said."
    ),
    "GEMINI_API_KEY": Setting("gemini_api_key", "Key for the gemini provider."),
    "VOICEBOX_GEMINI_BASE_URL": Setting("gemini_base_url", "Server that speaks Gemini Live."),
    "VOICEBOX_GEMINI_MODEL": Setting("gemini_model", "Model of the gemini provider."),
    "VOICEBOX_GEMINI_VOICE": Setting("gemini_voice", "Voice of the gemini provider."),
    "VOICEBOX_GEMINI_VAD": Setting("gemini_vad", "auto or none."),
    "VOICEBOX_INSTRUCTIONS": Setting("instructions", "Added to what remote models are told."),
    "VOICEBOX_FRAME_ARGS": Setting("frame_args", "1 puts arguments into tool frames."),
    "VOICEBOX_LOG_LEVEL": Setting("log_level", "debug, info, warning or error."),
    "VOICEBOX_LOG_JSON": Setting("log_json", "1 writes the log as JSON lines."),
    "VOICEBOX_STATE_DIR": Setting("state_dir", "Folder of the token and of what is remembered."),
}


def read_settings(environ: Mapping[str, str] = os.environ, **flags: Any) -> Settings:
    """Settings from flags over environment over defaults; a flag that is None counts as unset.

    Raises: SettingsError.
    """
    given = {
        name: value
        for name, value in environ.items()
        if value and (name.startswith(PREFIX) or name in ENVIRONMENT)
    }
    unknown = sorted(set(given) - set(ENVIRONMENT))
    if unknown:
        near = get_close_matches(unknown[0], ENVIRONMENT, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise SettingsError(f"there is no setting {unknown[0]}{hint}")
    fields: dict[str, Any] = {ENVIRONMENT[name].field: value for name, value in given.items()}
    fields |= {name: value for name, value in flags.items() if value is not None}
    home = _home(environ)
    state = Path(environ.get("XDG_STATE_HOME") or home / ".local" / "state") / "voicebox"
    fields.setdefault("state_dir", state)
    if environ.get("XDG_DATA_HOME"):
        data = Path(environ["XDG_DATA_HOME"]) / "voicebox"
        fields = {"workspace": data / "workspace", "extensions_dir": data / "extensions"} | fields
    return _checked({name: _converted(name, value) for name, value in fields.items()}, home)


def _home(environ: Mapping[str, str]) -> Path:
    """HOME, else what the user database says. Raises: SettingsError."""
    try:
        return Path(environ.get("HOME") or pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        raise SettingsError("there is no home folder; set HOME") from None


def _converted(name: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if name == "port":
        return _port(value)
    if name in {"allow_remote", "frame_args", "log_json"}:
        if value not in {"0", "1"}:
            raise SettingsError(f"{name} must be 0 or 1, not {value!r}")
        return value == "1"
    if name in _FOLDERS:
        return Path(value)
    if name in {"openai_api_key", "gemini_api_key"}:
        return _key(name, value.strip())
    return value


def _key(name: str, value: str) -> Secret:
    if not value.isascii() or not value.isprintable() or " " in value:
        raise SettingsError(f"{name} holds characters that no key has")
    return Secret(value)


def _port(value: str) -> int:
    if not (value.isascii() and value.isdecimal() and len(value) <= _PORT_MAX_DIGITS):
        raise SettingsError(f"port must be a number from 0 to 65535, not {value[:20]!r}")
    return int(value)


def _checked(fields: dict[str, Any], home: Path) -> Settings:
    settings = Settings(home=home, **fields)
    if not 0 <= settings.port <= _PORT_MAX:
        raise SettingsError(f"port must be a number from 0 to {_PORT_MAX}, not {settings.port}")
    if settings.token is not None and not TOKEN_PATTERN.fullmatch(settings.token):
        raise SettingsError("the token must be vbx_ and 48 hexadecimal digits")
    if settings.host not in LOOPBACK_HOSTS and not settings.allow_remote:
        raise SettingsError(f"{settings.host} is not loopback; --allow-remote says you mean it")
    if settings.log_level not in {"debug", "info", "warning", "error"}:
        raise SettingsError(f"log level {settings.log_level!r} is unknown")
    if settings.openai_vad not in {None, "server_vad", "semantic_vad", "none"}:
        raise SettingsError("openai_vad must be server_vad, semantic_vad or none")
    if settings.gemini_vad not in {None, "auto", "none"}:
        raise SettingsError("gemini_vad must be auto or none")
    return settings


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


def admitted_digests(settings: Settings) -> Path:
    """Where the digests of admitted shelf tools are kept between runs."""
    return settings.state_dir / "admitted.json"


def shelf_folder(settings: Settings, *, shipped: Path) -> Path:
    """The shelf: the setting, else the person's own if it has a manifest, else the shipped one.

    Source: seed document of the WebAssembly shelf, section 1.
    """
    if settings.wasm_shelf_dir is not None:
        return settings.wasm_shelf_dir
    own = settings.home / ".isocan" / "modules" / "wasm-tools"
    return own if (own / "manifest.json").is_file() else shipped


def mini_app_places(settings: Settings, *, shipped: Path) -> Places:
    """The folders of mini-apps: the settings, else folders of the person's own data."""
    data = settings.home / ".local" / "share" / "voicebox"
    extensions = settings.extensions_dir or data / "extensions"
    return Places(
        workspace=(settings.workspace or data / "workspace").absolute(),
        shelf=(extensions / "mini-apps").absolute(),
        sandbox_homes=(settings.sandbox_homes or settings.home / "sandbox-homes").absolute(),
        examples=shipped,
    )
