"""What every test gets: no blocked event loop, bounded properties, one refusal body.

Fakes that several rooms share live in `tests/fakes/`.
"""

import importlib.util
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import structlog
from blockbuster import blockbuster_ctx
from hypothesis import HealthCheck, settings

from relay.protocol.refusals import EXPLAINED, RefusalCode

# A shell lets what it runs in the background ignore the keyboard; the programs of the tests heed it
signal.signal(signal.SIGINT, signal.default_int_handler)

CI = bool(os.environ.get("CI"))
SLOW_SECONDS = {"browser": 90, "voice": 120}
MISSING = {
    "browser": (
        lambda: shutil.which("chromium") is None,
        "chromium is not installed: apt-get install chromium",
    ),
    "voice": (
        lambda: importlib.util.find_spec("ctranslate2") is None,
        "the speech engine is not installed: scripts/setup --dev",
    ),
}

# No property is judged by the clock: not one example, and not how long it takes to make examples
UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("house", UNHURRIED, max_examples=60)
settings.register_profile("ci", UNHURRIED, max_examples=100, derandomize=True, database=None)
settings.load_profile("ci" if CI else "house")

AssertRefused = Callable[[object, RefusalCode], None]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give tests that drive a browser or the speech model their time, or the reason to skip.

    In CI nothing is skipped: what is missing there is a fault of the machine's setup.
    """
    for name, (is_missing, reason) in MISSING.items():
        marked = [item for item in items if item.get_closest_marker(name)]
        skip = bool(marked) and not CI and is_missing()
        for item in marked:
            if skip:
                item.add_marker(pytest.mark.skip(reason=reason))
            if item.get_closest_marker("timeout") is None:
                item.add_marker(pytest.mark.timeout(SLOW_SECONDS[name]))


@pytest.fixture(autouse=True)
def _event_loop_is_never_blocked() -> Iterator[None]:
    """Fail a test in which code of the relay blocks the event loop that runs it."""
    with blockbuster_ctx("relay"):
        yield


@pytest.fixture(autouse=True)
def _logs_of_one_test() -> Iterator[None]:
    """Log plainly, and never to a stream that another test has captured and closed."""
    processors = structlog.processors
    structlog.configure(processors=[processors.format_exc_info, processors.KeyValueRenderer()])
    yield
    structlog.reset_defaults()


@pytest.fixture
def assert_refused() -> AssertRefused:
    """Return the check of the one refusal body: `assert_refused(body, code)`."""

    def check(body: Any, code: RefusalCode) -> None:
        assert isinstance(body, dict)
        assert set(body) == {"ok", "refused", "why"}
        assert body["ok"] is False
        assert body["refused"] == code
        assert code in EXPLAINED
        assert isinstance(body["why"], str)
        assert body["why"].strip()

    return check
