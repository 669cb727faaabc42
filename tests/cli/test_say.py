import json
import wave
from pathlib import Path

import pytest

from tests.cli.conftest import PATIENCE_S, Run, Running, Start, spawn, stop, until
from tests.cli.waves import wav

NEVER = [{"hear": {"text": "the magic word"}}]
LATIN = {"PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"}


@pytest.fixture
def spoken(tmp_path: Path) -> str:
    """A short file; the script's model answers any half second of sound."""
    file = tmp_path / "spoken.wav"
    file.write_bytes(wav(8_000, bits=8, channels=2))
    return str(file)


def answer_ms(file: Path) -> int:
    with wave.open(str(file)) as sound:
        assert sound.getparams()[:3] == (1, 2, 24_000)
        frames = sound.readframes(sound.getnframes())
        assert max(memoryview(frames).cast("h")) > 1_000, "the answer is not silence"
        return sound.getnframes() * 1_000 // sound.getframerate()


def test_typed_text_is_answered_and_the_calls_are_shown(run: Run, relay: Running) -> None:
    done = run("say", "--text", "hello", relay=relay)
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == "user: what was said"
    assert lines[1] == "tool hash called"
    assert lines[2].startswith("tool hash done in ")
    assert "ms: {" in lines[2]
    assert "(unknown-tool)" in lines[4]
    assert lines[5] == "assistant: the answer  [2J", "control characters never reach a terminal"
    assert lines[6] == "answer: answer.wav (300 ms)"
    assert answer_ms(Path("answer.wav")) == 300


def test_a_wav_is_streamed_as_a_voice_client_would(run: Run, relay: Running, spoken: str) -> None:
    created = relay.health()["live"]["created"]
    done = run("say", spoken, "--out", "to.wav", relay=relay)
    assert done.code == 0
    assert done.out.count("answer: to.wav") == 1
    assert "assistant: the answer" in done.out
    assert answer_ms(Path("to.wav")) % 300 == 0
    assert relay.health()["live"]["created"] == created + 1
    until(lambda: relay.health()["live"]["open"] == 0)


def test_json_has_one_line_a_message_and_the_answer_last(
    run: Run, relay: Running, spoken: str
) -> None:
    done = run("say", spoken, "--fast", "--json", relay=relay)
    assert done.code == 0
    told = [json.loads(line) for line in done.out.splitlines()]
    assert told[0]["type"] == "rate"
    assert {"state", "text", "tool"} <= {message["type"] for message in told}
    assert told[-1]["type"] == "answer"
    assert told[-1]["file"] == "answer.wav"
    assert told[-1]["ms"] == answer_ms(Path("answer.wav"))
    durations = [m["durationMs"] for m in told if m["type"] == "tool" and m["state"] == "done"]
    assert durations
    assert min(durations) >= 0


def test_an_answer_without_sound_writes_no_file(run: Run, start: Start) -> None:
    relay = start(script=[{"hear": {"text": ""}}, {"assistant": "yes"}, {"end": True}])
    done = run("say", "--text", "hello", relay=relay)
    assert done.out.splitlines() == ["assistant: yes", "no spoken answer"]
    assert not Path("answer.wav").exists()
    relay = start(script=[{"hear": {"text": ""}}, {"end": True}])
    done = run("say", "--text", "hello", "--json", relay=relay)
    assert json.loads(done.out.splitlines()[-1]) == {"type": "answer", "file": None, "ms": 0}


def test_letters_that_a_terminal_lacks_are_no_error(start: Start) -> None:
    relay = start(script=[{"hear": {"text": ""}}, {"assistant": "\u2713 done"}, {"end": True}])
    asking = ("say", "--text", "hello", "--url", relay.url)
    process = spawn(relay.environ | LATIN, *asking)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, err) == (0, "")
    assert out.startswith("assistant: \\u2713 done\n")


@pytest.mark.parametrize(
    "argv", [[], ["a.wav", "--text", "both"], ["--text", "x", "--out", "no/such/folder.wav"]]
)
def test_what_makes_no_sense_is_told_before_anything_is_dialled(
    run: Run, relay: Running, argv: list[str]
) -> None:
    before = relay.health()["live"]["created"]
    assert run("say", *argv, relay=relay).is_one_line_of_error()
    assert relay.health()["live"]["created"] == before


@pytest.mark.parametrize(
    ("content", "word"),
    [(b"not a sound", "RIFF"), (wav(samples=[]), "holds no sound"), (None, "can't be read")],
)
def test_a_file_that_is_no_sound_is_one_line(
    run: Run, relay: Running, content: bytes | None, word: str
) -> None:
    if content is not None:
        Path("bad.wav").write_bytes(content)
    before = relay.health()["live"]["created"]
    assert run("say", "bad.wav", relay=relay).is_one_line_of_error("bad.wav", word)
    assert relay.health()["live"]["created"] == before


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["--provider", "nothing"], ["unknown-provider", "script"]),
        (["--room", "no room"], ["bad-request", "room"]),
        (["--token", "vbx_" + "0" * 48], ["bearer-refused"]),
        (["--token", "wrong"], ["token must be"]),
    ],
)
def test_what_the_relay_refuses_is_one_line(
    run: Run, relay: Running, argv: list[str], words: list[str]
) -> None:
    done = run("say", "--text", "hello", *argv, relay=relay)
    assert done.is_one_line_of_error(*words)


def test_an_empty_text_is_refused_in_one_line(run: Run, relay: Running) -> None:
    assert run("say", "--text", " ", relay=relay).is_one_line_of_error("bad-request", "text")


def test_a_model_that_can_not_be_opened_is_one_line(run: Run, start: Start) -> None:
    relay = start(script=[{}])
    done = run("say", "--text", "hello", relay=relay)
    assert done.is_one_line_of_error("provider-unavailable", "step 1")


def test_silence_of_the_relay_ends_in_one_line(run: Run, start: Start) -> None:
    relay = start(script=NEVER)
    done = run("say", "--text", "hello", "--timeout", "0.2", relay=relay)
    assert done.is_one_line_of_error("nothing came", "0.2 s")
    assert not Path("answer.wav").exists()


def test_a_relay_that_dies_is_one_line(start: Start) -> None:
    relay = start(script=NEVER)
    talking = spawn(relay.environ, "say", "--text", "hello", "--url", relay.url)
    try:
        until(lambda: relay.health()["live"]["open"] == 1 or talking.poll() is not None)
        relay.process.kill()
        _, err = talking.communicate(timeout=PATIENCE_S)
    finally:
        stop(talking)
    assert talking.returncode == 1
    assert err.count("\n") == 1
    assert err.startswith("voicebox: the relay ended the session")


def test_a_relay_that_stops_is_one_line(start: Start) -> None:
    relay = start(script=NEVER)
    talking = spawn(relay.environ, "say", "--text", "hello", "--url", relay.url)
    try:
        until(lambda: relay.health()["live"]["open"] == 1 or talking.poll() is not None)
        assert relay.end() == 0
        _, err = talking.communicate(timeout=PATIENCE_S)
    finally:
        stop(talking)
    assert talking.returncode == 1
    assert err.startswith("voicebox: the relay ended the session")


def test_an_interrupt_from_the_keyboard_ends_without_a_word(start: Start) -> None:
    relay = start(script=NEVER)
    talking = spawn(relay.environ, "say", "--text", "hello", "--url", relay.url)
    try:
        until(lambda: relay.health()["live"]["open"] == 1 or talking.poll() is not None)
        talking.send_signal(2)
        out, err = talking.communicate(timeout=PATIENCE_S)
    finally:
        stop(talking)
    assert (talking.returncode, out, err) == (130, "", "")
