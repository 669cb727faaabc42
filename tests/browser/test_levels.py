"""Both sides of the conversation are seen: how loud the microphone is, and the answer."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from scripts.browser_lab.chromium import chromium
from scripts.browser_lab.relay_process import RelayProcess
from scripts.browser_lab.room_page import RoomPage
from tests.browser.test_talk import BEEPING

pytestmark = pytest.mark.browser

SCRIPT = {
    "steps": [{"hear": {"text": ""}}, {"tone": {"ms": 1_500}}, {"end": True}, {"repeat": True}]
}
# Keeps what the meters showed: a tone may be over before anybody asks
REMEMBER = """
window.__shown = { heard: [0], spoken: [0] };
setInterval(() => {
  for (const side of ["heard", "spoken"]) {
    const value = document.getElementById(`${side}-level`)?.value ?? 0;
    if (window.__shown[side].at(-1) !== value) window.__shown[side].push(value);
  }
}, 10);
"""


@pytest.fixture
def browser() -> Iterator[Browser]:
    with chromium(BEEPING) as opened:
        yield opened


@pytest.fixture
def room(browser: Browser, tmp_path: Path) -> Iterator[RoomPage]:
    """A room whose answer is a tone."""
    script = tmp_path / "tone.json"
    script.write_text(json.dumps(SCRIPT))
    with RelayProcess.by_cli("--provider", "script", VOICEBOX_SCRIPT=str(script)) as relay:
        opened = RoomPage(browser, relay, reduced_motion="reduce")
        with closing(opened):
            opened.page.add_init_script(REMEMBER)
            opened.open()
            yield opened


def shown(room: RoomPage, side: str) -> list[int]:
    return [int(value) for value in room.page.evaluate(f"window.__shown.{side}")]


def test_the_answer_moves_its_meter_and_leaves_it_at_rest(room: RoomPage) -> None:
    room.page.get_by_label("Type what you want done").fill("sing")
    room.page.keyboard.press("Enter")
    room.wait_for(lambda: max(shown(room, "spoken")) > 0 and shown(room, "spoken")[-1] == 0)
    assert max(shown(room, "spoken")) <= 100
    assert max(shown(room, "heard")) == 0
    assert room.page.get_by_role("meter", name="Answer").count() == 1
    assert room.errors == []


def test_the_microphone_moves_its_meter_until_it_is_off(room: RoomPage) -> None:
    microphone = room.page.get_by_role("button", name="Microphone")
    microphone.click()
    room.wait_for(lambda: max(shown(room, "heard")) > 0)
    microphone.click()
    room.wait_for(lambda: shown(room, "heard")[-1] == 0)
    assert room.page.get_by_role("meter", name="You").count() == 1
