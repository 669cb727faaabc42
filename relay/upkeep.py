"""Tasks that live as long as the relay: a fault in one must not end it for good."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

import structlog

_PAUSE_S = 1.0
_log = structlog.get_logger(__name__)


async def keep_up(work: Callable[[], Awaitable[None]], *, pause_s: float = _PAUSE_S) -> None:
    """Do endless work, and begin it anew, after a pause, each time it raises.

    A process that is short of memory or threads can't start a thread or keep a byte for a
    moment; that may cost one look or one restart, never all that would have come later.
    Ends only by cancellation, or with the work.
    """
    while True:
        try:
            await work()
        except Exception:  # a bug, or nothing left to work with: it is in the log, if that works
            with contextlib.suppress(MemoryError):
                task = asyncio.current_task()
                _log.exception("upkeep_broke", task=task and task.get_name())
        else:
            return
        await asyncio.sleep(pause_s)
