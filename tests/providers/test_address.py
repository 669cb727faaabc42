import pytest

from relay.protocol.refusals import Refusal, RefusalCode
from relay.providers.address import is_loopback, websocket_base


@pytest.mark.parametrize(
    ("written", "dialled"),
    [
        ("https://api.example.com/v1/", "wss://api.example.com/v1"),
        ("wss://api.example.com", "wss://api.example.com"),
        ("WSS://api.example.com:8443/a/b", "wss://api.example.com:8443/a/b"),
        ("http://localhost:8000/v1", "ws://localhost:8000/v1"),
        ("ws://127.0.0.1:9301/v1", "ws://127.0.0.1:9301/v1"),
        (" ws://[::1]:9301 ", "ws://[::1]:9301"),
    ],
)
def test_a_base_is_dialled_as_it_was_meant(written: str, dialled: str) -> None:
    assert websocket_base(written, "X") == dialled


@pytest.mark.parametrize(
    "written",
    [
        "",
        "api.example.com",
        "ftp://api.example.com",
        "wss://",
        "wss://host:port",
        "ws://api.example.com",
        "http://192.168.0.7:8000",
        "wss://name:secret@api.example.com",
        "wss://api.example.com/?key=secret",
        "wss://api.example.com/#key",
    ],
)
def test_a_base_that_is_unsafe_or_none_is_refused_by_its_setting(written: str) -> None:
    with pytest.raises(Refusal) as caught:
        websocket_base(written, "VOICEBOX_X_BASE_URL")
    assert caught.value.code is RefusalCode.PROVIDER_UNAVAILABLE
    assert caught.value.why.startswith("VOICEBOX_X_BASE_URL ")
    assert "secret" not in caught.value.why


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("ws://127.0.0.1:1", True),
        ("ws://127.9.9.9", True),
        ("ws://[::1]", True),
        ("ws://localhost", True),
        ("ws://localhost.example.com", False),
        ("ws://127.0.0.1.example.com", False),
        ("ws://10.0.0.1", False),
    ],
)
def test_this_machine_is_told_from_others(url: str, *, expected: bool) -> None:
    assert is_loopback(url) is expected
