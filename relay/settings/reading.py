"""Settings from flags over environment over defaults."""

import os
import pwd
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from relay.settings.caps import CAPS, with_caps
from relay.settings.error import SettingsError
from relay.settings.table import ENVIRONMENT, PREFIX, Setting, Settings

_LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")
_KNOWN: dict[str, Setting] = ENVIRONMENT | CAPS


def read_settings(environ: Mapping[str, str] = os.environ, **flags: Any) -> Settings:
    """Settings from flags over environment over defaults; a flag that is None counts as unset.

    Raises: SettingsError.
    """
    fields = {_KNOWN[name].field: _read(name, value) for name, value in _given(environ).items()}
    fields |= _read_flags(flags)
    home = _home(environ)
    state = Path(environ.get("XDG_STATE_HOME") or home / ".local" / "state") / "voicebox"
    fields.setdefault("state_dir", state)
    if environ.get("XDG_DATA_HOME"):
        data = Path(environ["XDG_DATA_HOME"]) / "voicebox"
        fields = {"workspace": data / "workspace", "extensions_dir": data / "extensions"} | fields
    settings = Settings(home=home, **with_caps(fields))
    if settings.host not in _LOOPBACK_HOSTS and not settings.allow_remote:
        raise SettingsError(f"{settings.host} is not loopback; --allow-remote says you mean it")
    return settings


def _given(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that are meant for us. Raises: SettingsError for one that is not known."""
    given = {
        name: value
        for name, value in environ.items()
        if value and (name.startswith(PREFIX) or name in _KNOWN)
    }
    unknown = sorted(set(given) - set(_KNOWN))
    if unknown:
        near = get_close_matches(unknown[0], _KNOWN, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise SettingsError(f"there is no setting {unknown[0]}{hint}")
    return given


def _read(name: str, text: str, *, called: str | None = None) -> Any:
    try:
        return _KNOWN[name].read(text)
    except ValueError as error:
        raise SettingsError(f"{called or name} {error}") from None


def _read_flags(flags: Mapping[str, Any]) -> dict[str, Any]:
    """Flags by field; text and numbers are checked like variables, and told by their own name."""
    variables = {setting.field: name for name, setting in _KNOWN.items()}
    return {
        field: _read(variables[field], str(value), called=field)
        if type(value) in {str, int}
        else value
        for field, value in flags.items()
        if value is not None
    }


def _home(environ: Mapping[str, str]) -> Path:
    """HOME, else what the user database says. Raises: SettingsError."""
    try:
        return Path(environ.get("HOME") or pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        raise SettingsError("there is no home folder; set HOME") from None
