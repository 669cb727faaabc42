"""kill -9 of the voice's engine in each state of a turn: it costs the turn, and another follows."""

from collections.abc import Iterator

import pytest

from tests.cli.conftest import TOKEN
from tests.faults.conftest import SLACK, StartVictim, Victim, eventually, kill
from tests.faults.peers import Peer
from tests.faults.wire import BINARY, Wire

pytestmark = [pytest.mark.voice, pytest.mark.timeout(180)]

ENGINE = "relay.providers.embedded"
POINTS = "add three points to the home team"
HUM = b"\0\x10\0\xf0" * 1_600  # 0.2 s


@pytest.fixture
def victim(start: StartVictim) -> Iterator[Victim]:
    victim = start()
    assert eventually(lambda: victim.health()["provider"]["ready"])
    yield victim
    assert eventually(lambda: victim.health()["live"]["open"] == 0)


def until(client: Wire, kind: str, **facts: object) -> None:
    """Read on to a message of this type with these facts."""
    while not facts.items() <= client.next(kind).items():
        pass


def until_sound(client: Wire) -> None:
    while client.receive()[0] != BINARY:
        pass


def bring_to(client: Wire, page: Peer, state: str) -> None:
    """Take the conversation to the state in which the engine is to die."""
    if state == "hearing":
        for _ in range(5):
            client.send(HUM, kind=BINARY)
    elif state in {"calling", "answering"}:
        client.say(type="text", text=POINTS)
        page.says("called")
        if state == "answering":
            until_sound(client)


@pytest.mark.parametrize(
    ("state", "page_does"),
    [
        ("idle", "answers"),
        ("hearing", "answers"),
        ("calling", "running"),
        ("answering", "answers"),
    ],
)
def test_an_engine_that_is_killed_costs_its_turn_only(
    victim: Victim, state: str, page_does: str
) -> None:
    with (
        victim.unharmed(),
        Peer("page.py", victim.url, TOKEN, page_does) as page,
        Wire(victim.url, "/live") as client,
    ):
        page.says("registered")
        client.say(type="hello", token=TOKEN)
        until(client, "state", state="ready")
        for _ in range(SLACK + 1):
            bring_to(client, page, state)
            (engine,) = victim.processes_of(ENGINE)
            kill(engine)
            until(client, "state", state="reconnecting")
            until(client, "state", state="resumed")
        client.say(type="text", text=POINTS)
        page.says("called")
        if page_does == "answers":
            until_sound(client)
        client.say(type="stop")
        until(client, "state", state="closed")
