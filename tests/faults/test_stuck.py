"""Clients that stop reading: each costs at most a mebibyte, is let go, and delays nobody."""

from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.cli.conftest import TOKEN
from tests.faults.conftest import StartVictim, Victim, eventually
from tests.faults.wire import Wire

pytestmark = pytest.mark.timeout(180)

STUCK = 16
MIB = 1024 * 1024
OTHERS_MIB = 8  # the room's memory of frames, and what any process grows by at first
LARGE = {"name": "none", "args": {"x": "y" * 60_000}}  # each call makes a frame of this size


def resident(victim: Victim) -> int:
    """Memory of the relay, in bytes."""
    return int(Path(f"/proc/{victim.process.pid}/statm").read_text().split()[1]) * 4_096


def sockets(victim: Victim) -> int:
    return sum(entry.startswith("socket:") for entry in victim.descriptors())


def test_stuck_pages_cost_little_and_are_let_go_although_they_never_leave(
    start: StartVictim,
) -> None:
    victim = start("--provider", "script", VOICEBOX_FRAME_ARGS="1")
    with victim.unharmed(), ExitStack() as stack, Wire(victim.url, "/live") as voice:
        voice.say(type="hello", token=TOKEN)
        before, rest = resident(victim), sockets(victim)
        for _ in range(STUCK):
            page = stack.enter_context(Wire(victim.url, "/workspace"))
            page.say(type="hello", token=TOKEN)
        most = before

        def are_gone() -> bool:
            nonlocal most
            victim.ask("POST", "/api/call", LARGE)
            most = max(most, resident(victim))
            return sockets(victim) < rest + STUCK // 2

        assert eventually(are_gone)
        assert most - before < (STUCK + OTHERS_MIB) * MIB
        voice.say(type="text", text="go")
        assert voice.next("text")["text"]


def test_a_stuck_dashboard_loses_frames_and_is_let_go(start: StartVictim) -> None:
    victim = start("--provider", "script", VOICEBOX_FRAME_ARGS="1")
    with victim.unharmed(), ExitStack() as stack:
        before, rest = resident(victim), sockets(victim)
        for _ in range(STUCK):
            dashboard = stack.enter_context(Wire(victim.url, "/frames"))
            dashboard.say(type="hello", token=TOKEN)

        def are_gone() -> bool:
            victim.ask("POST", "/api/call", LARGE)
            return sockets(victim) < rest + STUCK // 2

        assert eventually(are_gone)
        assert resident(victim) - before < (STUCK + OTHERS_MIB) * MIB
