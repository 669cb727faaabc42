"""The lab of one module: a relay, a browser, witnesses, and a room with a good app in it."""

from collections.abc import Iterator

import pytest

from scripts.attack_lab.lab import Lab
from scripts.attack_lab.uncontained import Uncontained


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with Lab() as opened:
        yield opened


@pytest.fixture(scope="module")
def uncontained() -> Iterator[Uncontained]:
    with Uncontained() as opened:
        yield opened
