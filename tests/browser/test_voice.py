"""A spoken sentence moves a mini-app: a real microphone stream, the real engine, a real answer."""

import wave
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import soxr

from scripts.browser_lab.chromium import chromium, microphone
from scripts.browser_lab.relay_process import ROOT, RelayProcess
from scripts.browser_lab.room_page import RoomPage

pytestmark = [pytest.mark.browser, pytest.mark.voice]

SPOKEN = ROOT / "examples/audio/add-three-points.wav"
MICROPHONE_HZ = 48_000
BEFORE_S, AFTER_S = 3.0, 12.0
TIMES_SAID = 3
HELD_S = 5.0  # the sentence and a little more
DONE = '#tool-log > li[data-tool="set_score"][data-state="ok"]'
# Before any script of the page: what reaches the loudspeaker is measured on its way
LISTEN = """
if (window === window.top) {
  window.__loudest = 0;
  const connect = AudioNode.prototype.connect;
  AudioNode.prototype.connect = function (target, ...rest) {
    if (target instanceof AudioDestinationNode) {
      const meter = new AnalyserNode(this.context, { fftSize: 2048 });
      connect.call(this, meter);
      const samples = new Float32Array(meter.fftSize);
      setInterval(() => {
        meter.getFloatTimeDomainData(samples);
        window.__loudest = Math.max(window.__loudest, ...samples.map(Math.abs));
      }, 20);
    }
    return connect.call(this, target, ...rest);
  };
}
"""


@pytest.fixture
def heard(tmp_path: Path) -> Path:
    """The sentence as a microphone hears it: at 48 kHz, silence before and after.

    It is said again, as a person would: a busy machine loses samples of Chromium's fake device.
    """
    with wave.open(str(SPOKEN)) as spoken:
        rate = spoken.getframerate()
        assert (spoken.getnchannels(), spoken.getsampwidth()) == (1, 2)
        samples = np.frombuffer(spoken.readframes(spoken.getnframes()), dtype="<i2")
    sound = soxr.resample(samples, rate, MICROPHONE_HZ, quality="VHQ")
    before, after = (np.zeros(int(MICROPHONE_HZ * s), dtype="<i2") for s in (BEFORE_S, AFTER_S))
    file = tmp_path / "microphone.wav"
    with wave.open(str(file), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(MICROPHONE_HZ)
        out.writeframes(np.concatenate([before, *(sound, after) * TIMES_SAID]).tobytes())
    return file


@pytest.fixture
def relay() -> Iterator[RelayProcess]:
    with RelayProcess.by_cli() as started:
        started.wait_for(lambda: started.ask("GET", "/api/health")["provider"]["ready"], 90)
        yield started


def test_a_spoken_sentence_moves_the_scoreboard(relay: RelayProcess, heard: Path) -> None:
    with chromium(microphone(heard)) as browser:
        room = RoomPage(browser, relay)
        room.page.add_init_script(LISTEN)
        room.open()
        room.start("app_scoreboard", "set_score")
        room.page.get_by_text("Sound", exact=True).click()
        room.page.get_by_label("Cancel echo").uncheck()  # nobody hears the answer here
        room.page.get_by_role("button", name="Microphone").click()
        room.page.locator(DONE).wait_for(timeout=75_000)
        heard_as = room.page.locator("#captions").inner_text()
        assert room.inner("app_scoreboard").locator("#home-score").text_content() == "3"
        assert "points" in heard_as.lower()
        room.wait_for(lambda: room.page.evaluate("window.__loudest") > 0.01, 15_000)
        assert room.errors == []
    called, done = [frame for frame in relay.frames() if frame["name"] == "set_score"]
    assert (called["state"], done["state"], done["ok"]) == ("called", "done", True)
    assert done["durationMs"] > 0
    assert done["provider"] == "embedded"


def test_what_is_said_while_the_key_is_held_moves_it_too(relay: RelayProcess, heard: Path) -> None:
    with chromium(microphone(heard)) as browser:
        room = RoomPage(browser, relay)
        room.open()
        room.start("app_scoreboard", "set_score")
        room.page.get_by_text("Sound", exact=True).click()
        room.page.get_by_label("Cancel echo").uncheck()
        room.page.get_by_label("Hold to talk").check()
        room.page.locator("h1").click()
        room.page.keyboard.down("Backquote")
        room.page.wait_for_timeout(1_000 * (BEFORE_S + HELD_S))
        room.page.keyboard.up("Backquote")
        room.page.locator(DONE).wait_for(timeout=30_000)
        assert room.inner("app_scoreboard").locator("#home-score").text_content() == "3"
        assert room.errors == []
