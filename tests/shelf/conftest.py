"""A shelf folder of the test's own, with the shipped tools where a test asks for them."""

from pathlib import Path

import pytest

from tests.shelf.shelves import Shelf


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path / "shelf")
