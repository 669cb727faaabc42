"""The documentation is part of the contract: whatever a person can meet is told, and is true."""

import argparse
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from relay.cli import _parser as command_line
from relay.metrics import Metrics
from relay.protocol.limits import LIMITS, Limits
from relay.protocol.messages import Message
from relay.protocol.refusals import RefusalCode
from relay.server.app import make_app
from relay.settings import CAPS, ENVIRONMENT, Settings
from relay.settings.caps import BOUNDS

LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")
BLOCK = re.compile(r"^```console\n(?P<lines>.*?)^```$", re.MULTILINE | re.DOTALL)


def page(root: Path, name: str) -> str:
    return (root / "docs" / name).read_text(encoding="utf-8")


def pages(root: Path) -> list[Path]:
    told = [*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("shelf/*.md")]
    return sorted([*told, *root.glob("examples/**/*.md")])


def anchors(text: str) -> set[str]:
    """Return the anchors that the headings of a page make."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def commands(root: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield (page, words) of every command that a console block shows."""
    for file in pages(root):
        for block in BLOCK.finditer(file.read_text(encoding="utf-8")):
            for line in block["lines"].replace("\\\n", " ").splitlines():
                if line.startswith("$ "):
                    first = re.split(r" [|>&]|#", line[2:])[0]
                    words = [w for w in shlex.split(first) if not re.match(r"[A-Z_]+=", w)]
                    yield file.name, words


@pytest.mark.parametrize("code", [*RefusalCode])
def test_a_refusal_code_is_documented(code: RefusalCode, root: Path) -> None:
    assert f"| `{code}` |" in page(root, "reference/refusals.md")


@pytest.mark.parametrize("name", Limits.__struct_fields__)
def test_a_limit_is_documented(name: str, root: Path) -> None:
    assert f"| `{name}` |" in page(root, "reference/limits.md")


@pytest.mark.parametrize("message", Message.__subclasses__(), ids=lambda m: m.__name__)
def test_a_message_is_documented(message: type[Message], root: Path) -> None:
    assert f"### `{message.__struct_config__.tag}`" in page(root, "reference/messages.md")


@pytest.mark.parametrize("name", ENVIRONMENT | CAPS)
def test_a_setting_is_documented(name: str, root: Path) -> None:
    assert f"| `{name}` |" in page(root, "reference/settings.md")


@pytest.mark.parametrize("name", CAPS)
def test_a_cap_is_documented_with_its_default_and_its_range(name: str, root: Path) -> None:
    field = CAPS[name].field
    least, most = BOUNDS[field]
    row = (
        f"| `{name}` | {getattr(LIMITS, field):,} | {least:,} to {most:,} | {CAPS[name].meaning} |"
    )
    assert row in page(root, "reference/settings.md")


@pytest.fixture
def routes(tmp_path: Path) -> set[str]:
    """Return what the relay answers to, as `GET /path`."""
    settings = Settings(state_dir=tmp_path, home=tmp_path, provider="script")
    app = make_app(settings, token="vbx_" + "0" * 48)
    return {f"{r.method} {r.resource.canonical}" for r in app.router.routes() if r.resource}


def test_every_route_is_documented_and_no_other(routes: set[str], root: Path) -> None:
    told = re.findall(r"`((?:GET|POST|PUT|DELETE) /[^`\s?]*)", page(root, "reference/http.md"))
    assert set(told) == routes


def under(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    actions = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    return dict(actions[0].choices) if actions else {}


def verbs() -> dict[str, argparse.ArgumentParser]:
    return under(command_line())


@pytest.mark.parametrize("verb", verbs())
def test_a_verb_and_its_flags_are_documented(verb: str, root: Path) -> None:
    told = page(root, "reference/cli.md")
    assert f"## voicebox {verb}\n" in told
    section = told.split(f"## voicebox {verb}\n")[1].split("\n## ")[0]
    shared = told.split("## Reaching a relay\n")[1].split("\n## ")[0]
    parsers = [verbs()[verb], *under(verbs()[verb]).values()]
    flags = {flag for p in parsers for a in p._actions for flag in a.option_strings}
    flags -= {"-h", "--help"}
    flags |= {f"{verb} {action}" for action in under(verbs()[verb])}
    untold = {flag for flag in flags if f"`{flag}" not in section and f"`{flag}" not in shared}
    assert untold == set()


def test_no_page_speaks_of_a_setting_that_does_not_exist(root: Path) -> None:
    for file in pages(root):
        named = set(re.findall(r"\bVOICEBOX_[A-Z_]*[A-Z]\b", file.read_text(encoding="utf-8")))
        assert named <= set(ENVIRONMENT | CAPS), file.name


def test_no_page_speaks_of_a_route_that_does_not_exist(routes: set[str], root: Path) -> None:
    for file in pages(root):
        text = file.read_text(encoding="utf-8")
        assert set(re.findall(r"`((?:GET|POST|PUT|DELETE) /[^`\s?]*)", text)) <= routes, file.name


def test_every_link_between_pages_leads_somewhere(root: Path) -> None:
    dead = []
    for file in pages(root):
        for match in LINK.finditer(file.read_text(encoding="utf-8")):
            target, _, anchor = match["target"].partition("#")
            if "://" in target:
                continue
            found = (file.parent / target).resolve() if target else file
            headings = anchors(found.read_text(encoding="utf-8")) if anchor else {anchor}
            if not found.exists() or anchor not in headings:
                dead.append(f"{file.name}: {match['target']}")
    assert dead == []


def test_every_page_can_be_found_from_the_index(root: Path) -> None:
    index = page(root, "index.md")
    for file in root.glob("docs/**/*.md"):
        name = file.relative_to(root / "docs").as_posix()
        assert name == "index.md" or f"({name})" in index, name


def test_every_command_that_a_page_shows_is_one_that_works(root: Path) -> None:
    shown = list(commands(root))
    assert shown
    for name, (program, *arguments) in shown:
        if Path(program).name == "voicebox":
            command_line().parse_args(arguments)
        elif program.startswith("scripts/"):
            assert (root / program).is_file(), f"{name}: {program}"


def test_the_code_that_a_guide_shows_is_the_code_of_its_example(root: Path) -> None:
    guide = page(root, "how-to/connect-a-voice-client.md")
    example = (root / "examples/clients/voice_client.py").read_text(encoding="utf-8")
    shown = re.findall(r"^```python\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)
    assert shown
    for block in shown:
        assert block in example


def test_every_metric_is_explained(root: Path) -> None:
    told = page(root, "how-to/watch-latency.md")
    names = {line.split()[2] for line in Metrics().text().decode().splitlines() if "# HELP" in line}
    assert names
    assert {name for name in names if f"`{name}`" not in told} <= {
        name for name in names if name.endswith("_created")
    }


def test_every_room_of_the_house_is_in_its_picture(root: Path) -> None:
    told = page(root, "explanation/architecture.md")
    rooms = [
        f for f in [*root.glob("relay/*"), *root.glob("relay/providers/*")] if f.suffix != ".pyc"
    ]
    names = {
        f"{found.name}/" if found.is_dir() else found.name
        for found in rooms
        if found.name not in {"__init__.py", "__pycache__", "py.typed"}
        and (found.is_dir() or found.parent.name == "relay")
    }
    assert {name for name in names if name not in told} == set()


def test_every_library_is_explained(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    told = page(root, "explanation/dependencies.md")
    for wanted in project["dependencies"] + extras["embedded"] + extras["fast"] + extras["dev"]:
        name = re.split(r"[^A-Za-z0-9-]", wanted)[0]
        assert re.search(rf"\b{name}\b", told), name


def test_the_readme_has_two_commands_to_set_up(root: Path) -> None:
    readme = (root / "README.md").read_text(encoding="utf-8")
    lines = [line for block in BLOCK.finditer(readme) for line in block["lines"].splitlines()]
    scripts = [line for line in lines if line.startswith("$ scripts/")]
    assert [line.split()[1] for line in scripts] == ["scripts/serve", "scripts/test"]
