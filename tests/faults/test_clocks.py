"""A wall clock that jumps: deadlines, queues and durations don't look at it."""

import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import relay
from tests.cli.conftest import TOKEN
from tests.faults.conftest import StartVictim
from tests.faults.peers import Peer
from tests.faults.wire import Wire

pytestmark = pytest.mark.timeout(120)

SCORE = {"name": "set_score", "args": {"team": "home", "points": 3}}
WALL = re.compile(r"\btime\.time(_ns)?\(|datetime\.(now|utcnow)|from time import [^\n]*\btime\b")
STAMPS = {"tools/dispatch.py", "miniapps/store.py"}  # `at`; `createdAt` and `updatedAt`


def test_a_relay_whose_clock_jumps_at_every_look_does_all_as_ever(start: StartVictim) -> None:
    clock = [sys.executable, str(Path(__file__).with_name("clock.py"))]
    victim = start("--provider", "script", around=clock)
    with (
        victim.unharmed(),
        Peer("page.py", victim.url, TOKEN, "answers") as page,
        Wire(victim.url, "/live") as voice,
        ThreadPoolExecutor(8) as pool,
    ):
        page.says("registered")
        voice.say(type="hello", token=TOKEN)
        while voice.next("state")["state"] != "ready":
            pass
        calls = [pool.submit(victim.ask, "POST", "/api/call", SCORE) for _ in range(20)]
        calls += [pool.submit(victim.hash) for _ in range(20)]
        for call in calls:
            told = call.result()
            assert told["ok"], told
            assert 0 <= told["durationMs"] < 60_000
        for frame in victim.ask("GET", "/api/frames?last=1000")["frames"]:
            assert 0 <= frame.get("durationMs", 0) < 60_000
        voice.say(type="text", text="go")
        assert voice.next("text")["text"]
        assert 0 <= victim.health()["uptimeS"] < 600


def test_a_call_that_is_never_answered_ends_at_its_deadline_by_the_steady_clock(
    start: StartVictim,
) -> None:
    clock = [sys.executable, str(Path(__file__).with_name("clock.py"))]
    victim = start("--provider", "script", around=clock)
    with Peer("page.py", victim.url, TOKEN, "running") as page:
        page.says("registered")
        told = victim.ask("POST", "/api/call", SCORE)
    assert told["refused"] == "time-exceeded"
    assert told["durationMs"] >= 5_000


def test_the_wall_clock_is_read_for_stamps_only() -> None:
    house = Path(relay.__file__).parent
    reading = {
        str(file.relative_to(house))
        for file in house.glob("**/*.py")
        if WALL.search(file.read_text(encoding="utf-8"))
    }
    assert {name for name in reading if not name.startswith("cli/")} == STAMPS
