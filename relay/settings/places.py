"""The folders and files that the settings name, or their defaults."""

from pathlib import Path

from relay.miniapps.places import Places
from relay.settings.table import Settings


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
