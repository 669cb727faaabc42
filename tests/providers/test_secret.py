import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.providers.secret import Secret, scrub


def test_a_secret_shows_itself_only_when_asked() -> None:
    secret = Secret("sk-canary-1")
    assert "canary" not in f"{secret!r} {secret} {[secret]} {secret!s}"
    assert secret.reveal() == "sk-canary-1"


@pytest.mark.parametrize(
    "sentence",
    [
        "Incorrect API key provided: sk-proj-canary123.",
        "API key expired: AIzaSyCanary_0-1",
        "Bearer canary is not valid",
        "at wss://host/path?key=canary failed",
        "see https://user:canary@host/",
        "access_token=canary is used up",
        "auth_tokens/canary is used up",
        "ek_canary12345 is used up",
        "my own canary was refused",
    ],
)
def test_a_key_in_a_sentence_is_taken_out(sentence: str) -> None:
    shown = scrub(sentence, Secret("my own canary"))
    assert "canary" not in shown.lower()
    assert shown


def test_a_plain_sentence_stays() -> None:
    for sentence in (
        "Request contains an invalid argument.",
        "Deadline expired before operation could complete.",
        "Your session hit the maximum duration of 60 minutes.",
    ):
        assert scrub(sentence) == sentence


@given(st.text(max_size=600))
def test_what_is_shown_is_short_and_has_no_control_characters(text: str) -> None:
    shown = scrub(text, Secret("key"))
    assert len(shown) <= 200
    assert all(ord(c) >= 32 and ord(c) != 127 for c in shown)
