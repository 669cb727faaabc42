"""How the person is heard: push-to-talk, mute, which microphone; and what the relay gets then."""

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, WebSocket

from scripts.browser_lab.chromium import chromium
from scripts.browser_lab.room_page import RoomPage
from tests.browser.conftest import OpenRoom

pytestmark = pytest.mark.browser

START = '{"type":"activity","kind":"start"}'
END = '{"type":"activity","kind":"end"}'
BEEPING = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]

ASKED_FOR = """
window.__asked = [];
const real = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
navigator.mediaDevices.getUserMedia = (wishes) => (window.__asked.push(wishes), real(wishes));
null;
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium(BEEPING) as opened:
        yield opened


class Sent:
    """What the page says on /live, sound as its bytes."""

    def __init__(self, room: RoomPage) -> None:
        self.frames: list[str | bytes] = []
        room.page.on("websocket", self._watch)

    def _watch(self, socket: WebSocket) -> None:
        if socket.url.endswith("/live"):
            socket.on("framesent", lambda frame: self.frames.append(frame))  # noqa: PLW0108 - a method cannot be marked

    def sound(self) -> list[bytes]:
        """Every frame of sound."""
        return [frame for frame in self.frames if isinstance(frame, bytes)]

    def around_sound(self) -> list[str]:
        """Every message but hello; any run of sound is one word."""
        said: list[str] = []
        for frame in self.frames[1:]:
            word = frame if isinstance(frame, str) else "sound"
            if said[-1:] != ["sound"] or word != "sound":
                said.append(word)
        return said


@pytest.fixture
def held(open_room: OpenRoom) -> RoomPage:
    """A room whose person chose push-to-talk."""
    room = open_room()
    room.page.get_by_text("Sound", exact=True).click()
    room.page.get_by_label("Hold to talk").check()
    room.page.locator("h1").click()
    return room


def hold(room: RoomPage, sent: Sent, *, key: str = "Backquote", frames: int = 5) -> None:
    """Hold the key until that much sound has left."""
    before = len(sent.sound())
    room.page.keyboard.down(key)
    room.wait_for(lambda: len(sent.sound()) >= before + frames)
    room.page.keyboard.up(key)
    room.wait_for(lambda: sent.frames[-1] == END)


def test_speech_is_what_is_said_while_the_key_is_held(held: RoomPage) -> None:
    sent = Sent(held)
    hold(held, sent)
    held.wait_for(lambda: held.page.locator("#mic-state").text_content() == "Off")
    held.page.wait_for_timeout(200)
    hold(held, sent)
    assert sent.around_sound() == [START, "sound", END] * 2
    assert held.errors == []


def test_the_button_is_held_by_pointer_and_by_keyboard(held: RoomPage) -> None:
    sent = Sent(held)
    button = held.page.get_by_role("button", name="Microphone")
    button.hover()
    held.page.mouse.down()
    held.wait_for(lambda: len(sent.sound()) > 2)
    assert button.get_attribute("aria-pressed") == "true"
    held.page.mouse.up()
    held.wait_for(lambda: sent.frames[-1] == END)
    button.focus()
    hold(held, sent, key="Space")
    assert sent.around_sound() == [START, "sound", END] * 2


def test_the_key_stays_a_letter_in_a_text_field(held: RoomPage) -> None:
    sent = Sent(held)
    field = held.page.get_by_label("Type what you want done")
    field.press("Backquote")
    assert field.input_value() == "`"
    assert sent.frames == []


def test_another_key_is_chosen_and_remembered(held: RoomPage) -> None:
    held.page.get_by_role("button", name="Key: `").click()
    held.page.keyboard.press("Space")
    held.page.get_by_role("button", name="Press a key").wait_for()
    held.page.keyboard.press("KeyT")
    held.page.get_by_role("button", name="Key: t").wait_for()
    held.page.reload()
    held.page.wait_for_selector("#connection[data-state=open]")
    assert "the key t" in (held.page.locator("#mic-hint").text_content() or "")
    sent = Sent(held)
    hold(held, sent, key="KeyT")


def test_losing_the_window_lets_the_key_go(held: RoomPage) -> None:
    sent = Sent(held)
    held.page.keyboard.down("Backquote")
    held.wait_for(lambda: len(sent.sound()) > 2)
    held.page.evaluate("window.dispatchEvent(new Event('blur'))")
    held.wait_for(lambda: sent.frames[-1] == END)


def test_an_open_microphone_is_the_default_and_says_no_edge(open_room: OpenRoom) -> None:
    room = open_room()
    sent = Sent(room)
    room.page.keyboard.press("Backquote")
    assert sent.frames == []
    room.page.get_by_role("button", name="Microphone").click()
    room.wait_for(lambda: len(sent.sound()) > 5)
    assert room.page.locator("#mic-state").text_content() == "Listening"
    assert json.loads(str(sent.frames[0]))["type"] == "hello"
    assert sent.around_sound() == ["sound"]


def test_muted_the_conversation_goes_on_in_silence(open_room: OpenRoom) -> None:
    room = open_room()
    sent = Sent(room)
    mute = room.page.get_by_role("button", name="Mute")
    assert not mute.is_visible()
    room.page.get_by_role("button", name="Microphone").click()
    room.wait_for(lambda: any(any(frame) for frame in sent.sound()))
    mute.click()
    assert room.page.locator("#mic-state").text_content() == "Muted"
    room.wait_for(lambda: len(sent.sound()) > 20 and not any(map(any, sent.sound()[-20:])))
    room.page.locator("h1").click()
    room.page.keyboard.press("m")
    assert room.page.locator("#mic-state").text_content() == "Listening"
    heard = len(sent.sound())
    room.wait_for(lambda: any(map(any, sent.sound()[heard:])))


def test_another_microphone_is_chosen_and_remembered(open_room: OpenRoom) -> None:
    room = open_room()
    room.page.get_by_text("Sound", exact=True).click()
    picker = room.page.get_by_role("combobox", name="Microphone")
    room.page.get_by_role("button", name="Microphone").click()
    room.wait_for(lambda: picker.locator("option").count() > 2)
    room.page.evaluate(ASKED_FOR)
    second = picker.locator("option").nth(2).get_attribute("value")
    picker.select_option(index=2)
    room.wait_for(lambda: bool(room.page.evaluate("window.__asked.length")))
    assert room.page.evaluate("window.__asked[0].audio.deviceId") == second
    sent = Sent(room)
    room.page.reload()
    room.page.wait_for_selector("#connection[data-state=open]")
    room.page.wait_for_function(
        "value => document.querySelector('#device').value === value", arg=second
    )
    room.page.get_by_role("button", name="Microphone").click()
    room.wait_for(lambda: any(any(frame) for frame in sent.sound()))
