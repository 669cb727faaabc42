"""The fork server by itself: it makes workers, tells how they ended, and leaves with its host."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from relay.shelf import confine, forkserver

HERE = Path(__file__).resolve().parent

pytestmark = pytest.mark.skipif(not forkserver.works_here(), reason="no fork server here")


def test_workers_are_made_to_order_and_buried() -> None:
    ended = subprocess.run(
        [sys.executable, str(HERE / "nursery.py"), str(HERE.parent.parent)],
        stdout=subprocess.PIPE,
        check=True,
    )
    told = json.loads(ended.stdout)
    assert told["answers"] == ["03" + "00" * 31] * 2
    assert told["ended"] == [0, 0, 0, 0]
    assert set(told["steps"]) <= confine.offered(())
    assert told["rootDropped"] == (os.geteuid() == 0)
