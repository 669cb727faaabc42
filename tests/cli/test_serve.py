import json
import signal
import socket
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

import relay as product
from tests.cli.conftest import TOKEN, Run, Running, Start


def test_the_first_line_says_where_the_relay_listens_and_it_answers_there(relay: Running) -> None:
    assert relay.first_line.startswith("listening http://127.0.0.1:")
    health = relay.health()
    assert health["ok"] is True
    assert health["version"] == product.__version__
    assert health["provider"] == {"name": "script", "ready": True}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(number: int, start: Start) -> None:
    relay = start()
    assert relay.health()["ok"]
    assert relay.end(number) == 0
    assert f"{relay.url}/#token={TOKEN}" in relay.rest_of_output()
    assert relay.process.stderr is not None
    log = relay.process.stderr.read()
    assert "Traceback" not in log
    assert "vbx_" not in log


def test_a_reader_that_leaves_does_not_end_the_relay(start: Start) -> None:
    relay = start()
    assert relay.process.stdout is not None
    relay.process.stdout.close()
    assert relay.health()["ok"]
    assert relay.end() == 0


def test_the_token_is_made_at_the_first_start_and_kept(start: Start, tmp_path: Path) -> None:
    state = tmp_path / ".local/state/voicebox/token"
    first = start(VOICEBOX_TOKEN="")
    assert first.health()["ok"]
    token = state.read_text().strip()
    assert first.end() == 0
    assert token in first.rest_of_output()
    again = start(VOICEBOX_TOKEN="")
    assert again.end() == 0
    assert token in again.rest_of_output()


def test_a_restart_on_the_same_port_works_at_once(start: Start) -> None:
    first = start()
    with urlopen(first.url + "/api/health") as answer:  # a connection that was used
        assert json.load(answer)["ok"]
    assert first.end() == 0
    second = start("--port", first.url.rsplit(":", 1)[1])
    assert second.url == first.url


def test_an_ipv6_loopback_is_printed_as_an_address(start: Start) -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6 loopback")
    running = start("--host", "::1")
    assert running.url.startswith("http://[::1]:")
    assert running.health()["ok"]


def test_all_addresses_are_told_as_the_one_of_this_machine(start: Start) -> None:
    running = start("--host", "0.0.0.0", "--allow-remote")
    assert running.url.startswith("http://127.0.0.1:")
    assert running.health()["ok"]


def test_a_wrong_token_is_refused_by_a_real_relay(relay: Running) -> None:
    with pytest.raises(HTTPError) as caught:
        urlopen(relay.url + "/api/tools")
    assert json.load(caught.value)["refused"] == "unauthenticated-call"
    caught.value.close()


def test_a_port_in_use_is_one_line(spawned: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = spawned("serve", "--provider", "script", "--port", str(port))
    assert done.is_one_line_of_error(f"127.0.0.1:{port}: Address already in use")


def test_a_host_that_does_not_exist_is_one_line(spawned: Run) -> None:
    host = "no.such.host.invalid"
    done = spawned("serve", "--provider", "script", "--host", host, "--allow-remote")
    assert done.is_one_line_of_error(host)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--provider", "nothing"], ["nothing", "embedded", "script"]),
        (["--port", "65536"], ["port"]),
        (["--port", "-1"], ["port"]),
        (["--host", "0.0.0.0"], ["--allow-remote"]),
    ],
)
def test_a_bad_flag_is_one_line(run: Run, arguments: list[str], words: list[str]) -> None:
    done = run("serve", "--provider", "script", *arguments)
    assert done.is_one_line_of_error(*words)


@pytest.mark.parametrize(
    ("name", "value", "word"),
    [
        ("VOICEBOX_PROT", "1", "VOICEBOX_PROT"),
        ("VOICEBOX_PORT", "http", "VOICEBOX_PORT"),
        ("VOICEBOX_LOG_LEVEL", "loud", "loud"),
    ],
)
def test_a_bad_setting_is_one_line(
    run: Run, name: str, value: str, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    assert run("serve").is_one_line_of_error(word)


def test_a_state_folder_that_can_not_be_written_is_one_line(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("VOICEBOX_STATE_DIR", str(tmp_path / "file"))
    done = run("token", "rotate")
    assert done.is_one_line_of_error("can't be written")


def test_the_version_is_the_products(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run("--version")
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"voicebox {product.__version__}\n"


@pytest.mark.parametrize("argv", [[], ["sing"], ["serve", "--port", "x"], ["say", "--nothing"]])
def test_an_unknown_command_or_flag_says_how_it_is_used(
    run: Run, argv: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        run(*argv)
    assert ended.value.code == 2
    assert "usage: voicebox" in capsys.readouterr().err
