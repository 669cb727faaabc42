import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run, Running


def findings(text: str) -> dict[str, dict[str, Any]]:
    return {finding["subject"]: finding for finding in json.loads(text)}


def test_a_whole_machine_has_nothing_broken(run: Run) -> None:
    done = run("doctor", "--json")
    told = findings(done.out)
    assert done.code == 0
    assert "broken" not in {finding["state"] for finding in told.values()}
    assert {"Python", "embedded voice", "browser", "shelf", "confinement", "port"} <= set(told)
    assert "2 tools" in told["shelf"]["found"]


def test_people_read_one_line_a_finding(run: Run) -> None:
    lines = run("doctor").out.splitlines()
    assert lines[0].startswith("ok       Python: 3.")


def test_a_port_that_is_taken_is_told_with_what_to_do(
    run: Run, relay: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VOICEBOX_PORT", relay.url.rpartition(":")[2])
    port = findings(run("doctor", "--json").out)["port"]
    assert port["state"] == "warning"
    assert "--port 0" in port["remedy"]


def test_a_provider_without_its_key_is_broken(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOICEBOX_LIVE_PROVIDER", "gemini")
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    done = run("doctor", "--json")
    assert done.code == 1
    assert findings(done.out)["gemini"]["remedy"] == "Set GEMINI_API_KEY."


def test_a_speech_model_that_is_not_there_is_a_warning(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VOICEBOX_WHISPER_MODEL", str(tmp_path / "none"))
    voice = findings(run("doctor", "--json").out)["embedded voice"]
    assert voice["state"] == "warning"
    assert voice["found"] == "VOICEBOX_WHISPER_MODEL: there is no folder none"
    assert "setting" in voice["remedy"]


def test_a_key_is_never_printed(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    done = run("doctor")
    assert "openai: a key is set" in done.out
    assert "canary" not in done.out + done.err


def test_a_state_folder_that_is_no_folder_is_broken(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a file"
    file.touch()
    monkeypatch.setenv("VOICEBOX_STATE_DIR", str(file))
    done = run("doctor", "--json")
    assert done.code == 1
    assert "VOICEBOX_STATE_DIR" in findings(done.out)["state folder"]["remedy"]


def test_a_token_that_others_may_read_is_a_warning(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VOICEBOX_STATE_DIR", str(tmp_path))
    token = tmp_path / "token"
    token.write_text("vbx_")
    token.chmod(0o644)
    assert findings(run("doctor", "--json").out)["state folder"]["state"] == "warning"


def test_a_shelf_with_a_bad_module_is_told_per_tool(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    entry = {"id": "gone", "wasm": "gone.wasm", "digest": "0" * 64, "abi": "buffer-abi/1"}
    manifest = {"name": "s", "version": "1", "tools": [entry | {"description": "Gone."}]}
    (shelf / "manifest.json").write_text(json.dumps(manifest))
    monkeypatch.setenv("VOICEBOX_WASM_SHELF_DIR", str(shelf))
    done = run("doctor", "--json")
    told = findings(done.out)
    assert told["shelf tool gone"]["state"] == "warning"
    assert done.code == 0
