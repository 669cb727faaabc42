"""The live models of this machine, built from the settings; starts nothing."""

from pathlib import Path

from relay.providers.embedded import EmbeddedModel, Setup
from relay.providers.model import LiveModel
from relay.providers.script import DEMO, Script, ScriptModel, read_script
from relay.settings import Settings


def local_models(settings: Settings) -> dict[str, LiveModel]:
    """Every local model by name."""

    def load() -> Script:
        return DEMO if settings.script is None else read_script(settings.script)

    return {"embedded": EmbeddedModel(setup=engine_setup(settings)), "script": ScriptModel(load)}


def engine_setup(settings: Settings) -> Setup:
    """What the embedded voice's engine loads."""
    return Setup(
        whisper=_absolute(settings.whisper_model),
        language=settings.language,
        piper=_absolute(settings.piper_voice),
        end_of_turn_ms=settings.end_of_turn_ms,
    )


def _absolute(path: Path | None) -> str | None:
    """The engine runs in another folder."""
    return None if path is None else str(path.absolute())
