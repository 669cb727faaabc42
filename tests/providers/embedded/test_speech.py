"""What espeak-ng makes of text that comes from tools."""

import pytest

pytest.importorskip("espeakng_loader", reason="the speech engine is not installed")
from relay.providers.embedded.speech import RATE_HZ, Voice

pytestmark = pytest.mark.voice


@pytest.fixture(scope="module")
def voice() -> Voice:
    return Voice()


def seconds(pcm: bytes) -> float:
    return len(pcm) / 2 / RATE_HZ


def test_markup_is_read_and_not_obeyed(voice: Voice) -> None:
    told = '<speak><break time="60s"/><prosody rate="x-slow">hello</prosody></speak>'
    assert 0.5 < seconds(voice.say(told)) < 30


def test_what_is_no_text_makes_no_sound_and_no_trouble(voice: Voice) -> None:
    plain = seconds(voice.say("hello"))
    assert seconds(voice.say("")) < 0.1
    for odd in ("\0hello", "hello\ud800", "hello \x1b[31m"):
        assert voice.say(odd)
    assert seconds(voice.say("hello")) == pytest.approx(plain, abs=0.05)
