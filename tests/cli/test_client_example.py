"""The example client, run as its guide says, against a real relay."""

import subprocess
import sys
import wave
from pathlib import Path

import pytest

from tests.cli.conftest import PATIENCE_S, Running
from tests.cli.waves import wav

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/clients/voice_client.py"


def run_example(
    relay: Running, folder: Path, said: str, **more: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, EXAMPLE, said],
        cwd=folder,
        env=relay.environ | {"RELAY": relay.url} | more,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


@pytest.mark.parametrize("said", ["hello", "hello.wav"])
def test_the_example_speaks_and_keeps_the_answer(relay: Running, tmp_path: Path, said: str) -> None:
    (tmp_path / "hello.wav").write_bytes(wav(16_000))
    done = run_example(relay, tmp_path, said)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "user: what was said"
    assert '"durationMs"' in lines[2]
    assert lines[-1] == "answer.wav: 0.3 s"
    with wave.open(str(tmp_path / "answer.wav")) as answer:
        assert (answer.getframerate(), answer.getnframes()) == (24_000, 7_200)


def test_the_example_says_why_it_was_refused(relay: Running, tmp_path: Path) -> None:
    done = run_example(relay, tmp_path, "hello", VOICEBOX_TOKEN="vbx_" + "0" * 48)
    assert done.returncode == 1
    assert done.stderr.startswith("bearer-refused: ")
