import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from relay.settings import TOKEN_PATTERN
from tests.cli.conftest import PATIENCE_S, TOKEN, Run, Running, Start, spawn, stop

ASKING = [["tools"], ["call", "hash"], ["frames"], ["say", "--text", "hello"]]


def test_tools_are_listed_with_the_place_where_they_run(run: Run, relay: Running) -> None:
    done = run("tools", relay=relay)
    assert done.code == 0
    listed = {line.split("  ")[0]: line.split("  ")[1] for line in done.out.splitlines()}
    assert listed["hash"] == "(wasm)"
    assert listed["list_extensions"] == "(built-in)"


def test_tools_as_json_are_the_relays_whole_answer(run: Run, relay: Running) -> None:
    told = json.loads(run("tools", "--json", relay=relay).out)
    assert {"openai", "gemini"} <= set(told["declarations"])
    assert all("parameters" in tool for tool in told["tools"])


def test_a_call_prints_its_outcome(run: Run, relay: Running) -> None:
    done = run("call", "hash", '{"input": "abc"}', relay=relay)
    outcome = json.loads(done.out)
    assert (done.code, outcome["ok"]) == (0, True)
    assert outcome["result"]["output"].startswith("ba7816bf8f01cfea")
    assert outcome["durationMs"] > 0


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (["no_such_tool"], "unknown-tool"),
        (["hash"], "missing-argument"),
        (["hash", '{"input": 7}'], "invalid-argument-type"),
        (["hash", "[1]"], "invalid-tool-arguments"),
    ],
)
def test_a_refused_call_prints_its_code_and_exits_one(
    run: Run, relay: Running, argv: list[str], code: str
) -> None:
    done = run("call", *argv, relay=relay)
    assert (done.code, json.loads(done.out)["refused"]) == (1, code)
    assert done.err == ""


@pytest.mark.parametrize("arguments", ["{", "", "nonsense", "[" * 100_000])
def test_arguments_that_are_no_json_are_one_line(run: Run, relay: Running, arguments: str) -> None:
    done = run("call", "hash", arguments, relay=relay)
    assert done.is_one_line_of_error("not JSON")


def test_numbers_that_json_does_not_have_are_refused_in_one_line(run: Run, relay: Running) -> None:
    done = run("call", "hash", '{"input": NaN}', relay=relay)
    assert done.is_one_line_of_error("bad-json")


def test_frames_are_followed_from_the_past_into_the_present(run: Run, relay: Running) -> None:
    run("call", "first", relay=relay)
    following = spawn(relay.environ, "frames", "--last", "2", "--json", "--url", relay.url)
    assert following.stdout is not None
    try:
        told = [json.loads(following.stdout.readline()) for _ in range(2)]
        run("call", "hash", '{"input": "abc"}', relay=relay)
        told += [json.loads(following.stdout.readline()) for _ in range(2)]
    finally:
        stop(following)
    assert [(frame["name"], frame["state"]) for frame in told] == [
        ("first", "called"),
        ("first", "done"),
        ("hash", "called"),
        ("hash", "done"),
    ]
    assert told[3]["durationMs"] > 0
    assert "args" not in told[2]


def test_frames_in_words_are_one_line_a_frame_and_end_with_the_relay(
    run: Run, start: Start
) -> None:
    relay = start()
    run("call", "hash", '{"input": "abc"}', relay=relay)
    following = spawn(relay.environ, "frames", "--last", "2", "--url", relay.url)
    assert following.stdout is not None
    try:
        lines = [following.stdout.readline() for _ in range(2)]
        assert relay.end() == 0
        out, err = following.communicate(timeout=PATIENCE_S)
    finally:
        stop(following)
    assert lines[0] == "tool hash called\n"
    assert lines[1].startswith("tool hash done in ")
    assert (following.returncode, out, err) == (0, "", "")


@pytest.mark.parametrize("last", ["-1", "1001"])
def test_a_number_of_frames_out_of_bounds_is_one_line(run: Run, last: str) -> None:
    assert run("frames", "--last", last).is_one_line_of_error("--last")


@pytest.mark.parametrize("argv", ASKING, ids=lambda argv: argv[0])
def test_a_relay_that_is_not_there_is_one_line(run: Run, argv: list[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    assert run(*argv, "--url", url).is_one_line_of_error(url, "voicebox serve")


@pytest.mark.parametrize("argv", ASKING, ids=lambda argv: argv[0])
@pytest.mark.parametrize("url", ["ftp://x", "127.0.0.1:8787", "http://", "http://[::1"])
def test_an_address_that_is_none_is_one_line(run: Run, argv: list[str], url: str) -> None:
    assert run(*argv, "--url", url).is_one_line_of_error()


class _Page(BaseHTTPRequestHandler):
    """Some other program that happens to listen there."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<p>hello")

    do_POST = do_GET  # noqa: N815 - the name that the library looks for

    def log_message(self, *args: object) -> None: ...


@pytest.fixture
def stranger() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), _Page) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("argv", ASKING, ids=lambda argv: argv[0])
def test_another_program_at_that_address_is_one_line(
    run: Run, argv: list[str], stranger: str
) -> None:
    assert run(*argv, "--url", stranger).is_one_line_of_error()


def test_a_wrong_token_is_one_line(run: Run, relay: Running) -> None:
    for argv in ASKING:
        done = run(*argv, "--token", "vbx_" + "0" * 48, relay=relay)
        assert done.is_one_line_of_error("bearer-refused"), argv


def test_an_odd_room_is_refused_and_never_another_one(run: Run, relay: Running) -> None:
    assert run("tools", "--room", "main&x=1", relay=relay).is_one_line_of_error("room")
    assert run("tools", "--room", "other", relay=relay).code == 0


def test_without_a_token_the_way_to_one_is_told(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    done = run("tools", "--token", "")
    assert done.is_one_line_of_error("token")


def test_the_token_is_shown_and_renewed(run: Run, tmp_path: Path) -> None:
    assert run("token").out == TOKEN + "\n"
    renewed = run("token", "rotate").out.strip()
    assert TOKEN_PATTERN.fullmatch(renewed)
    assert (tmp_path / ".local/state/voicebox/token").read_text().strip() == renewed


def test_a_reader_that_leaves_ends_a_command_without_a_word(relay: Running) -> None:
    following = spawn(relay.environ, "tools", "--url", relay.url)
    assert following.stdout is not None
    assert following.stderr is not None
    following.stdout.close()
    try:
        assert following.wait(timeout=PATIENCE_S) in {0, 1}
        assert following.stderr.read() == ""
    finally:
        stop(following)


def test_a_full_disk_is_one_line(relay: Running) -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123 - a device
        done = subprocess.run(
            [sys.executable, "-m", "relay", "tools", "--url", relay.url],
            env=relay.environ,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
    assert (done.returncode, done.stderr) == (1, "voicebox: No space left on device\n")
