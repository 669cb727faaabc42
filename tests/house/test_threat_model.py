import re
from pathlib import Path

# Threat, what closes it, in the first table where that holds, and the proof
ROW = re.compile(r"^\| (?:[^|]+ \| ){2,3}([^|]+) \|$", re.MULTILINE)


def test_every_row_of_the_threat_model_names_a_proof_that_exists(root: Path) -> None:
    told = (root / "docs/explanation/threat-model.md").read_text(encoding="utf-8")
    rows = [row for row in ROW.findall(told) if row not in {"proof", "---"}]
    proofs = {proof for row in rows for proof in re.findall(r"`([a-z0-9_-]+)`", row)}
    tests = {
        name
        for file in (root / "tests").rglob("test_*.py")
        for name in re.findall(r"def (test_\w+)\(", file.read_text(encoding="utf-8"))
    }
    attacks = {file.stem for file in (root / "tests/attacks/apps").glob("*.html")}
    assert len(rows) > 50
    assert all("`" in row for row in rows)
    assert proofs <= tests | attacks
