"""A process of the worker side: this code, isolated, and nothing of its parent."""

import asyncio
import json
import os
import subprocess
from pathlib import Path

import relay
from relay.shelf.launch import command, launch, surroundings


def test_a_worker_runs_the_same_code_and_inherits_nothing() -> None:
    started = subprocess.run(
        command("tests.shelf.whereabouts", ["one", "two"]),
        capture_output=True,
        check=True,
        **surroundings(),
    )
    told = json.loads(started.stdout)
    assert Path(told["relay"]) == Path(relay.__file__)
    assert set(told["environment"]) <= {"LC_CTYPE"}  # Python's own doing
    assert told["folder"] == Path.cwd().anchor
    assert told["isolated"] == 1
    assert told["arguments"] == ["one", "two"]
    assert told["leads"]


async def test_it_has_the_descriptors_that_it_is_given() -> None:
    receive, send = os.pipe()
    process = await launch("relay.shelf.worker", ["RUN", "{}"], descriptors=(send,))
    os.close(send)
    assert await process.wait() != 0  # bounds are missing, and nobody hears of it
    os.close(receive)


def test_it_can_be_started_from_a_loop_that_ends() -> None:
    async def start() -> int:
        process = await launch("relay.shelf.worker", ["RUN", "{}"], descriptors=())
        return await process.wait()

    assert asyncio.run(start()) != 0
