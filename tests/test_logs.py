import json
import logging
from collections.abc import Iterator

import pytest
import structlog
from aiohttp.http_exceptions import BadHttpMessage
from aiohttp.web import RequestPayloadError

from relay.logs import configure_logs


@pytest.fixture(autouse=True)
def _logs_as_they_were() -> Iterator[None]:
    root = logging.getLogger()
    level, handlers = root.level, root.handlers[:]
    yield
    logging.getLogger("aiohttp.server").filters.clear()
    structlog.reset_defaults()
    root.setLevel(level)
    root.handlers[:] = handlers


def test_events_are_lines_of_facts_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs(level="info", as_json=True)
    with structlog.contextvars.bound_contextvars(session_id="s1"):
        structlog.get_logger().info("call_done", duration_ms=3.4)
    out, err = capsys.readouterr()
    assert out == ""
    told = json.loads(err)
    assert told.pop("timestamp").endswith("Z")
    assert told == {"event": "call_done", "level": "info", "session_id": "s1", "duration_ms": 3.4}


@pytest.mark.parametrize(
    ("level", "heard"),
    [("debug", "dwie"), ("info", "wie"), ("warning", "we"), ("error", "e")],
)
def test_a_level_silences_what_is_below_it(
    level: str, heard: str, capsys: pytest.CaptureFixture[str]
) -> None:
    configure_logs(level=level, as_json=True)
    log = structlog.get_logger()
    log.debug("d")
    log.warning("w")
    log.info("i")
    log.error("e")
    events = [json.loads(line)["event"] for line in capsys.readouterr().err.splitlines()]
    assert "".join(events) == heard


def fail_with_a_secret() -> None:
    secret = "what the person said"
    raise ValueError(len(secret))


@pytest.mark.parametrize("form", ["json", "text"])
def test_a_traceback_is_logged_without_local_variables(
    form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    configure_logs(level="info", as_json=form == "json")
    try:
        fail_with_a_secret()
    except ValueError:
        structlog.get_logger().exception("broke")
    err = capsys.readouterr().err
    assert "fail_with_a_secret" in err
    assert "ValueError" in err
    assert "what the person said" not in err


@pytest.mark.parametrize(("level", "events"), [("info", ["request_malformed"]), ("warning", [])])
@pytest.mark.parametrize("kind", [BadHttpMessage, RequestPayloadError])
def test_a_request_that_is_no_http_is_a_line_and_not_what_it_said(
    kind: type[Exception], level: str, events: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    configure_logs(level=level, as_json=True)
    fault = kind("Authorization: Bearer secret")
    logging.getLogger("aiohttp.server").error("a fault", exc_info=fault)
    err = capsys.readouterr().err
    assert "secret" not in err
    assert [json.loads(line)["event"] for line in err.splitlines()] == events


def test_libraries_speak_only_when_something_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs(level="debug", as_json=False)
    logging.getLogger("aiohttp.access").info("a request")
    logging.getLogger("aiohttp.server").error("a fault")
    err = capsys.readouterr().err
    assert "a request" not in err
    assert "a fault" in err
