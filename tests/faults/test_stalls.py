"""A loop that stands still: nobody is let go who did nothing wrong, and every call ends once."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from time import sleep

import pytest

from tests.cli.conftest import TOKEN
from tests.faults.conftest import SLACK, Victim, eventually
from tests.faults.peers import Peer
from tests.faults.wire import Wire

pytestmark = pytest.mark.timeout(120)

STALL_S = 3.0  # less than every deadline: 5 s for a call, for hello and for a client that is stuck
SCORE = {"name": "set_score", "args": {"team": "home", "points": 3}}


def stall(victim: Victim) -> None:
    """Stop the relay's process, and nobody else's, for a while."""
    os.kill(victim.process.pid, signal.SIGSTOP)
    sleep(STALL_S)
    os.kill(victim.process.pid, signal.SIGCONT)


def test_a_stall_in_the_middle_of_everything_costs_nobody_anything(victim: Victim) -> None:
    with victim.unharmed(), Peer("page.py", victim.url, TOKEN, "answers") as page:
        page.says("registered")
        with (
            Wire(victim.url, "/live") as voice,
            Wire(victim.url, "/frames") as dashboard,
            Wire(victim.url, "/frames") as late,
            ThreadPoolExecutor(12) as pool,
        ):
            voice.say(type="hello", token=TOKEN)
            dashboard.say(type="hello", token=TOKEN)
            while voice.next("state")["state"] != "ready":
                pass
            for _ in range(SLACK + 1):
                calls = [pool.submit(victim.ask, "POST", "/api/call", SCORE) for _ in range(4)]
                calls += [pool.submit(victim.hash) for _ in range(4)]
                stall(victim)
                assert all(call.result()["ok"] for call in calls)
            # nobody waits longer for a hello because of the stalls
            assert late.close_code() == 1008
            voice.say(type="stop")
            assert voice.close_code() == 1000
            assert dashboard.next("tool")
            victim.hash()
            while dashboard.next("tool")["name"] != "hash":
                pass
    assert eventually(victim.every_call_ended_once)


def test_a_call_whose_deadline_passed_in_a_stall_ends_once(victim: Victim) -> None:
    with victim.unharmed(), Peer("page.py", victim.url, TOKEN, "running") as page:
        page.says("registered")
        with ThreadPoolExecutor(4) as pool:
            calls = [pool.submit(victim.ask, "POST", "/api/call", SCORE) for _ in range(4)]
            for _ in calls:
                page.says("called")
            stall(victim)
            stall(victim)
            assert {call.result()["refused"] for call in calls} == {"time-exceeded"}
