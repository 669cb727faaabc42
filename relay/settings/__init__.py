"""How this process runs: the only reader of the environment.

What can be set is declared in `table` and, for bounds that an operator may change, in `caps`; how
a text becomes a value is in `kinds`. Bounds of the contract are in `relay.protocol.limits`;
nothing below `relay.server` imports this package.
"""

from relay.settings.caps import CAPS
from relay.settings.error import SettingsError
from relay.settings.kinds import TOKEN_PATTERN
from relay.settings.places import admitted_digests, mini_app_places, shelf_folder
from relay.settings.reading import read_settings
from relay.settings.table import ENVIRONMENT, Setting, Settings
from relay.settings.token import ensure_token, load_token, rotate_token, token_path

__all__ = [
    "CAPS",
    "ENVIRONMENT",
    "TOKEN_PATTERN",
    "Setting",
    "Settings",
    "SettingsError",
    "admitted_digests",
    "ensure_token",
    "load_token",
    "mini_app_places",
    "read_settings",
    "rotate_token",
    "shelf_folder",
    "token_path",
]
