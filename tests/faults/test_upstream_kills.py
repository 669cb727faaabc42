"""kill -9 of the live model's server in each state: told once, taken up again, nothing left."""

import pytest

from tests.cli.conftest import TOKEN
from tests.faults.conftest import SLACK, StartVictim, Victim, eventually
from tests.faults.peers import Peer, free_port
from tests.faults.wire import Wire

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def victim(start: StartVictim, port: int) -> Victim:
    return start("--provider", "openai", VOICEBOX_OPENAI_BASE_URL=f"ws://127.0.0.1:{port}/v1")


def upstream(port: int, state: str) -> Peer:
    peer = Peer("upstream.py", str(port), state)
    peer.says("here")
    return peer


def converse(victim: Victim) -> Wire:
    client = Wire(victim.url, "/live")
    client.say(type="hello", token=TOKEN)
    return client


def until_state(client: Wire, state: str) -> None:
    while client.next("state")["state"] != state:
        pass


@pytest.mark.parametrize("state", ["dialling", "setup"])
def test_one_that_dies_before_the_session_stands_ends_it_with_a_reason(
    victim: Victim, port: int, state: str
) -> None:
    with victim.unharmed():
        for _ in range(SLACK + 1):
            with upstream(port, state) as peer:
                peer.go()
                peer.says("listening")
                with converse(victim) as client:
                    peer.says("reached")
                    peer.kill()
                    error = client.next("error")
                    assert error["fatal"]
                    assert error["code"] in {"connection-lost", "provider-unreachable"}
                    assert client.next("state")["code"] == 1011
                    assert client.close_code() == 1011
        with upstream(port, "ready") as peer:
            peer.go()
            peer.says("listening")
            with converse(victim) as client:
                until_state(client, "ready")
    assert victim.health()["live"]["open"] == 0


@pytest.mark.parametrize("state", ["ready", "calling", "answering"])
def test_one_that_dies_later_is_reached_again_and_the_conversation_goes_on(
    victim: Victim, port: int, state: str
) -> None:
    with victim.unharmed(), Peer("page.py", victim.url, TOKEN, "answers") as page:
        page.says("registered")
        for _ in range(SLACK + 1):
            with upstream(port, state) as first, upstream(port, "whole") as second:
                first.go()
                first.says("listening")
                with converse(victim) as client:
                    until_state(client, "ready")
                    first.says("reached")
                    if state == "answering":
                        assert client.receive()
                    first.kill()
                    until_state(client, "reconnecting")
                    second.go()
                    second.says("listening")
                    until_state(client, "resumed")
                    second.says("reached")
                    client.say(type="text", text="three points")
                    acted(client)
                    client.say(type="stop")
                    until_state(client, "closed")
        assert eventually(lambda: victim.health()["live"]["open"] == 0)


def acted(client: Wire) -> None:
    """A call of the model's was answered, and the model has the answer."""
    done = client.next("tool")
    while done["state"] != "done" or not done["delivered"]:
        done = client.next("tool")
    assert done["ok"], done
