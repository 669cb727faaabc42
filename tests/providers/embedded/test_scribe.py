"""Captions are written one at a time, about once a second, and less often when that is dear."""

import threading

import pytest

from relay.providers.embedded import scribe as module
from relay.providers.embedded.scribe import EVERY_S, Scribe, SoFar

SAID = SoFar("s", "turn_1", b"\0\0")


class Desk:
    """A scribe whose clock and whose work are the test's."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, costs_s: float = 0.1) -> None:
        self.now = 100.0
        self.shown: list[tuple[SoFar, str]] = []
        self.costs_s = costs_s
        self.text = "hello"
        monkeypatch.setattr(module, "monotonic", lambda: self.now)
        self.scribe = Scribe(write=self._write, show=lambda *shown: self.shown.append(shown))

    def _write(self, _: SoFar) -> str:
        assert not self.scribe.ready
        self.scribe.offer(SAID)  # it is busy: let pass
        self.now += self.costs_s
        return self.text

    def write(self) -> None:
        self.scribe.close()
        self.scribe.work()


def test_what_was_offered_is_shown_once(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk(monkeypatch)
    assert desk.scribe.ready
    desk.scribe.offer(SAID)
    assert not desk.scribe.ready
    desk.scribe.offer(SoFar("s", "turn_2", b""))
    desk.write()
    assert desk.shown == [(SAID, "hello")]


@pytest.mark.parametrize(("costs_s", "rests_s"), [(0.1, EVERY_S - 0.1), (1.0, 5.0)])
def test_the_next_one_comes_after_a_rest(
    monkeypatch: pytest.MonkeyPatch, costs_s: float, rests_s: float
) -> None:
    desk = Desk(monkeypatch, costs_s=costs_s)
    desk.scribe.offer(SAID)
    desk.write()
    desk.now += rests_s - 0.01
    assert not desk.scribe.ready
    desk.scribe.offer(SAID)
    desk.write()
    assert len(desk.shown) == 1
    desk.now += 0.02
    assert desk.scribe.ready


def test_nothing_heard_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk(monkeypatch)
    desk.text = ""
    desk.scribe.offer(SAID)
    desk.write()
    assert desk.shown == []


def test_it_waits_on_a_thread_of_its_own() -> None:
    shown = threading.Event()
    scribe = Scribe(write=lambda _: "hello", show=lambda *_: shown.set())
    thread = threading.Thread(target=scribe.work)
    thread.start()
    scribe.offer(SAID)
    assert shown.wait(10)
    scribe.close()
    thread.join(10)
    assert not thread.is_alive()
