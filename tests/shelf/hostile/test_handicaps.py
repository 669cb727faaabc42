"""Where a machine lacks something the shelf works, does without it, and says so."""

import asyncio
import asyncio.subprocess
import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from relay.shelf import confine, forkserver, seccomp
from relay.shelf.confine import STEPS
from relay.shelf.forkserver import ForkServer
from relay.shelf.host import make_source
from relay.shelf.spawned import SpawnedWorkers
from tests.shelf.shelves import LIMITS, SHIPPED, ask, serving

HERE = Path(__file__).resolve().parent
ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
LINUX = sys.platform == "linux" and platform.machine() in seccomp.ARCHITECTURES
needs_filters = pytest.mark.skipif(not LINUX, reason="refuses with a system-call filter")


async def host_with(handicap: str, how: str) -> dict[str, Any]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(HERE / "handicapped.py"), str(SHIPPED), handicap, how,
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    told, _ = await process.communicate()
    assert process.returncode == 0
    result: dict[str, Any] = json.loads(told)
    return result


@needs_filters
@pytest.mark.parametrize("how", ["fork", "nofork"])
@pytest.mark.parametrize(
    ("handicap", "missing"),
    [
        ("nothing", set[str]()),
        ("no filters", {confine.SECCOMP}),
        ("no limits", {confine.RESOURCE_LIMITS, confine.DATA_LIMIT}),
        ("no parent-death signal", {confine.PARENT_DEATH}),
    ],
)
async def test_what_the_system_refuses_is_left_out_and_told(
    handicap: str, missing: set[str], how: str
) -> None:
    told = await host_with(handicap, how)
    assert told["answer"]["output"] == ABC
    assert set(told["worker"]["hardening"]) == set(STEPS) - missing


def _nobody_can_run_python() -> bool:
    if sys.platform != "linux" or os.geteuid() != 0:
        return False
    try:
        subprocess.run([sys.executable, "-c", ""], user=65_534, group=65_534, check=True)
    except (PermissionError, subprocess.CalledProcessError):
        return False
    return True


@pytest.mark.skipif(
    not _nobody_can_run_python(),
    reason="only root can become another user, who must be able to run this Python",
)
async def test_an_unprivileged_user_has_the_same_confinement() -> None:
    told = await host_with("nobody", "fork")
    assert told["answer"]["output"] == ABC
    assert set(told["worker"]["hardening"]) == set(STEPS)


@pytest.mark.parametrize("fork", [True, False], ids=["forked", "spawned"])
async def test_every_step_can_be_left_out(*, fork: bool) -> None:
    source = make_source(limits=LIMITS, left_out=STEPS, fork=fork)
    async with serving(SHIPPED, source=source) as host:
        assert (await ask(host, "hash", input="abc"))["output"] == ABC
        assert (await host.status())["worker"]["hardening"] in ([], None)


def test_workers_are_forked_where_the_system_can(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(make_source(limits=LIMITS), ForkServer) == forkserver.works_here()
    assert isinstance(make_source(limits=LIMITS, fork=False), SpawnedWorkers)
    monkeypatch.delattr(os, "fork", raising=False)  # as on Windows
    assert isinstance(make_source(limits=LIMITS), SpawnedWorkers)


def test_a_system_without_process_descriptors_spawns(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(pid: int) -> int:
        raise PermissionError

    monkeypatch.setattr(os, "pidfd_open", refuse, raising=False)
    assert isinstance(make_source(limits=LIMITS), SpawnedWorkers)
