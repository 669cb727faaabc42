import hashlib
import re
from pathlib import Path

LINES_MAX = 300
MEASURED = ("relay", "static", "scripts")
TEXT = {
    ".css", ".html", ".in", ".js", ".json", ".md", ".py", ".sh", ".toml", ".ts", ".txt", ".wat", ""
}  # fmt: skip
# Bracketed, so that no pattern finds itself here
LEAKS = {
    "a path of one machine": r"(?<![\w.])/(wor[k]|far[m]|hom[e]|roo[t]|User[s])/",
    "a package host": r"pyp[i]\.org|pythonhoste[d]|npmj[s]\.|--(extra-)?inde[x]-url|/simpl[e]/",
    "where a lock was made": r'"resolve[d]"\s*:',
}
LEFT_OVER = r"\b(TOD[O]|FIXM[E]|XX[X])\b"


def lines_with(pattern: str, files: list[Path], root: Path) -> list[str]:
    return [
        f"{file.relative_to(root)}:{number}: {line.strip()[:120]}"
        for file in files
        if file.suffix in TEXT
        for number, line in enumerate(file.read_text("utf-8", "replace").splitlines(), 1)
        if re.search(pattern, line)
    ]


def test_every_file_can_be_read_in_one_sitting(own_files: list[Path], root: Path) -> None:
    long = {
        str(file.relative_to(root)): count
        for file in own_files
        if file.suffix in {".py", ".js", ".css"}
        and file.relative_to(root).parts[0] in MEASURED
        and (count := len(file.read_text(encoding="utf-8").splitlines())) > LINES_MAX
    }
    assert long == {}


def test_no_file_speaks_of_one_machine_or_of_package_hosts(
    own_files: list[Path], root: Path
) -> None:
    for what, pattern in LEAKS.items():
        assert lines_with(pattern, own_files, root) == [], what


def test_nothing_is_left_for_later_in_a_comment(own_files: list[Path], root: Path) -> None:
    assert lines_with(LEFT_OVER, own_files, root) == []


def test_every_python_module_says_what_it_is(own_files: list[Path], root: Path) -> None:
    silent = [
        str(file.relative_to(root))
        for file in own_files
        if file.suffix == ".py"
        and file.is_relative_to(root / "relay")
        and not file.read_text(encoding="utf-8").startswith('"""')
    ]
    assert silent == []


def test_no_markup_is_made_from_data(own_files: list[Path], root: Path) -> None:
    scripts = [f for f in own_files if f.suffix == ".js" and f.is_relative_to(root / "static")]
    assert (
        lines_with(r"\b(inner|outer)HTML\b|insertAdjacentHTML|document\.write", scripts, root) == []
    )


def test_a_vendored_library_is_what_its_version_file_says(root: Path) -> None:
    libraries = [*(root / "static/vendor").iterdir()]
    assert libraries
    for library in libraries:
        told = (library / "VERSION").read_text(encoding="utf-8")
        digests = re.findall(r"^([0-9a-f]{64})  (\S+)$", told, re.MULTILINE)
        found = {
            file.name: hashlib.sha256(file.read_bytes()).hexdigest()
            for file in library.iterdir()
            if file.name != "VERSION"
        }
        assert {name: digest for digest, name in digests} == found, library.name
        assert "LICENSE" in found


def test_scripts_are_executable_and_the_ci_runs_them(root: Path) -> None:
    for name in ("setup", "serve", "test", "check", "lock", "generate_protocol.py"):
        assert (root / "scripts" / name).stat().st_mode & 0o111, name
    assert "scripts/check" in (root / ".ci/run").read_text(encoding="utf-8")
    assert "scripts/test" in (root / "scripts/check").read_text(encoding="utf-8")
