"""The log: structlog on stderr; event names are constants, facts are keys.

Never audio, transcripts, prompts, arguments, results or keys: sizes and digests instead.
"""

import logging
import sys

import structlog

# Where aiohttp keeps the exceptions for what a peer sent
_PEERS_FAULTS = {"aiohttp.http_exceptions", "aiohttp.web_protocol"}
_LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}


def configure_logs(*, level: str, as_json: bool) -> None:
    """Set the process's log up; call once, at the start."""
    renderer: structlog.types.Processor = (
        structlog.processors.JSONRenderer()
        if as_json
        else structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(),
            # prettier ones show local variables, which may hold what people said
            exception_formatter=structlog.dev.plain_traceback,
        )
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[level]),
        logger_factory=structlog.PrintLoggerFactory(file=sys.stderr),
    )
    # aiohttp logs through the standard library; its tracebacks belong in the same stream
    logging.basicConfig(level=max(_LEVELS[level], logging.WARNING), stream=sys.stderr, force=True)
    logging.getLogger("aiohttp.server").addFilter(_without_bad_requests)


def _without_bad_requests(record: logging.LogRecord) -> bool:
    """Leave out what is a peer's fault: anybody could fill the log, also with what they sent."""
    fault = record.exc_info[0] if record.exc_info else None
    if fault is None or fault.__module__ not in _PEERS_FAULTS:
        return True
    structlog.get_logger(__name__).info("request_malformed", fault=fault.__name__)
    return False
