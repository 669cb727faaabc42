"""Processes that die without a word: the call in hand is refused, the next one works."""

import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from relay.protocol.limits import LIMITS
from tests.faults.conftest import PATIENCE_S, StartVictim, Victim, alive, eventually, kill

pytestmark = pytest.mark.timeout(120)

ZYGOTE = "relay.shelf.zygote"
ENGINE = "relay.providers.embedded"


def test_a_dead_fork_server_is_replaced_and_the_next_call_answered(victim: Victim) -> None:
    assert victim.hash()["ok"]
    for _ in range(3):
        for pid in victim.processes_of(ZYGOTE):
            kill(pid)
        assert eventually(lambda: victim.hash()["ok"])
    assert victim.health()["ok"]


def test_calls_in_hand_when_the_workers_die_are_each_answered_once(victim: Victim) -> None:
    assert victim.hash()["ok"]
    with ThreadPoolExecutor(8) as pool:
        calls = [pool.submit(victim.hash) for _ in range(40)]
        for pid in victim.processes_of(ZYGOTE):
            kill(pid)
        outcomes = [call.result(timeout=PATIENCE_S) for call in calls]
    assert len(outcomes) == 40
    refused = {outcome["refused"] for outcome in outcomes if not outcome["ok"]}
    assert refused <= {"worker-lost", "shelf-unavailable", "shelf-busy"}
    assert eventually(lambda: victim.hash()["ok"])


@pytest.mark.voice
def test_a_dead_voice_engine_is_replaced(start: StartVictim) -> None:
    victim = start()
    assert eventually(lambda: victim.health()["provider"]["ready"])
    (first,) = victim.processes_of(ENGINE)
    kill(first)
    assert eventually(
        lambda: victim.health()["provider"]["ready"] and victim.processes_of(ENGINE) != [first]
    )


@pytest.mark.voice
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_outlives_the_relay(start: StartVictim, number: int) -> None:
    victim = start()
    assert eventually(lambda: victim.health()["provider"]["ready"])
    assert victim.hash()["ok"]
    family = victim.descendants()
    assert len(family) >= 2
    code = victim.end(number)
    assert code == (-number if number == signal.SIGKILL else 0)
    assert eventually(lambda: not any(alive(pid) for pid in family))


def test_a_second_signal_ends_the_relay_at_once(victim: Victim) -> None:
    victim.process.send_signal(signal.SIGTERM)
    victim.process.send_signal(signal.SIGTERM)
    assert victim.process.wait(timeout=PATIENCE_S) in {0, -signal.SIGTERM}


def test_the_port_is_free_again_after_a_stop(start: StartVictim) -> None:
    first = start("--provider", "script")
    port = first.url.rpartition(":")[2]
    assert first.end() == 0
    again = start("--provider", "script", VOICEBOX_PORT=port)
    assert again.health()["ok"]


def test_calls_leave_no_descriptor_and_no_process_behind(victim: Victim) -> None:
    for _ in range(20):
        assert victim.hash()["ok"]
    with victim.unharmed():
        for _ in range(100):
            assert victim.hash()["ok"]
    # the fork server, its spares at the end of a burst, and one that waits with its module
    assert len(victim.descendants()) <= LIMITS.wasm_spares_max + 2
