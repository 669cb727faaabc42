import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Done, Run
from tests.fakes.declared import SET_SCORE, tool
from tests.fakes.vectors import read_vectors, same


@pytest.fixture
def declared(run: Run) -> Path:
    """A declaration in the command's working folder; `run` makes that folder."""
    file = Path("tool.json")
    file.write_text(json.dumps(SET_SCORE))
    return file


def told(done: Done) -> dict[str, Any]:
    assert done.err == ""
    assert done.out.count("\n") == 1
    answer: dict[str, Any] = json.loads(done.out)
    return answer


def lines(*questions: object) -> str:
    return "".join(json.dumps(question) + "\n" for question in questions)


def test_a_good_declaration_is_printed_in_its_normal_form(run: Run, declared: Path) -> None:
    done = run("check", str(declared))
    assert (done.code, told(done)) == (0, {"ok": True, "value": SET_SCORE})


def test_a_refused_declaration_exits_one_and_names_what_is_wrong(run: Run) -> None:
    Path("tool.json").write_text(json.dumps(tool("t", v={"type": "string", "pattern": "a"})))
    done = run("check", "tool.json")
    answer = told(done)
    assert (done.code, answer["refused"]) == (1, "invalid-tool-parameters")
    assert "pattern" in answer["why"]


@pytest.mark.parametrize(
    ("args", "code", "answer"),
    [
        ('{"team":"home","points":3.0}', 0, {"team": "home", "points": 3}),
        ('{"team":"home"}', 1, "missing-argument"),
        ('{"team":"x","points":1}', 1, "invalid-argument-enum"),
        ("{", 1, "invalid-tool-arguments"),
    ],
)
def test_arguments_are_checked_against_the_declaration(
    run: Run, declared: Path, args: str, code: int, answer: object
) -> None:
    done = run("check", str(declared), "--args", args)
    body = told(done)
    assert (done.code, body.get("refused", body.get("value"))) == (code, answer)


def test_many_are_answered_line_by_line(run: Run) -> None:
    questions = lines(
        {"tool": SET_SCORE},
        {"tool": 5},
        {"parameters": SET_SCORE["parameters"], "args_json": '{"team":"away","points":1}'},
        {"parameters": {"type": "array"}, "args_json": "{}"},
        {"parameters": {"type": "object"}, "args_json": 5},
        [],
    )
    Path("many.jsonl").write_text(f"{questions}\n{{\n")
    done = run("check", "many.jsonl", "--jsonl")
    answers = [json.loads(line) for line in done.out.splitlines()]
    assert done.code == 0
    assert [answer.get("refused", "ok") for answer in answers] == [
        "ok",
        "invalid-tool-declaration",
        "ok",
        "invalid-tool-parameters",
        "bad-request",
        "bad-request",
        "bad-json",
    ]
    assert answers[2]["value"] == {"team": "away", "points": 1}
    assert all(isinstance(answer.get("why", "-"), str) for answer in answers)


def test_standard_input_is_read_for_a_hyphen(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(SET_SCORE).encode())))
    assert told(run("check", "-"))["ok"] is True


def test_the_output_is_plain_for_every_terminal(run: Run) -> None:
    Path("tool.json").write_text(json.dumps(SET_SCORE | {"description": "\u202e\x1b[2J é"}))
    done = run("check", "tool.json")
    assert done.out.isascii()
    assert "\x1b" not in done.out


@pytest.mark.parametrize("file", ["missing.json", ".", "\0"])
def test_a_file_that_cant_be_read_is_one_line(run: Run, file: str) -> None:
    assert run("check", file).is_one_line_of_error("can't read")


def test_a_file_that_breaks_while_it_is_read_is_one_line(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            raise OSError("gone")

    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(Broken())))
    for flags in ([], ["--jsonl"]):
        assert run("check", "-", *flags).is_one_line_of_error("can't read", "gone")


def test_the_vectors_pass_through_the_command_too(run: Run) -> None:
    vectors = [*read_vectors("declarations"), *read_vectors("arguments")]
    kept = ("tool", "parameters", "args_json")
    questions = [{key: vector[key] for key in kept if key in vector} for vector in vectors]
    Path("vectors.jsonl").write_text(lines(*questions))
    answers = run("check", "vectors.jsonl", "--jsonl").out.splitlines()
    for vector, line in zip(vectors, answers, strict=True):
        answer, expected = json.loads(line), vector["expect"]
        answer.pop("why", None)
        allowed = expected.get("refused")
        one_of = isinstance(allowed, list) and answer.get("refused") in allowed
        assert one_of or same(answer, expected), (vector["id"], answer)
