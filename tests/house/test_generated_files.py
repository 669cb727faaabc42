import subprocess
import sys
from pathlib import Path

import pytest

from scripts import generate_protocol
from scripts.generate_protocol import GENERATED


def test_generated_files_say_what_the_protocol_says() -> None:
    assert generate_protocol.stale() == [], "run scripts/generate_protocol.py"


def test_the_check_names_a_stale_file_and_fails(root: Path) -> None:
    command = [sys.executable, "scripts/generate_protocol.py", "--check"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("name", GENERATED)
def test_a_changed_or_missing_file_is_stale_until_it_is_written_anew(
    name: str, tmp_path: Path
) -> None:
    assert generate_protocol.write(tmp_path) == list(GENERATED)
    assert generate_protocol.stale(tmp_path) == []
    file = tmp_path / name
    file.write_text(file.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert generate_protocol.stale(tmp_path) == [name]
    file.unlink()
    assert generate_protocol.write(tmp_path) == [name]
    assert generate_protocol.stale(tmp_path) == []
