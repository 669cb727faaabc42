"""Why a provider's connection is gone, in the relay's words; pure.

Close codes are matched by class only: a provider's pairs of code and cause are reports, not a
contract, so its reason text is passed on (scrubbed) as the diagnosis.
"""

from relay.providers.secret import Secret, scrub


class Lost(Exception):  # noqa: N818 - the outside failed; the name says what happened
    """A connection could not be made, or is gone.

    `code` is for programs, `why` a scrubbed sentence; `retry` says whether trying again can help,
    `mended` that its cause is gone, so that even a first connection is worth a second try.
    """

    def __init__(self, code: str, why: str, *, retry: bool, mended: bool = False) -> None:
        super().__init__(why)
        self.code = code
        self.why = why
        self.retry = retry
        self.mended = mended


UNREACHABLE = "provider-unreachable"
KEY_REFUSED = "provider-key-refused"
REFUSED = "provider-refused"
BUSY = "provider-busy"
FAILED = "provider-failed"
DROPPED = "connection-lost"
ENDED = "provider-ended"

_BY_CLOSE_CODE = {
    1000: (ENDED, "ended the session", False),
    1001: (DROPPED, "went away", True),
    1005: (DROPPED, "closed the connection", True),
    1006: (DROPPED, "dropped the connection", True),
    1011: (FAILED, "failed", True),
    1012: (FAILED, "is restarting", True),
    1013: (BUSY, "is too busy", True),
    1014: (FAILED, "failed", True),
}
_BY_STATUS = {
    401: (KEY_REFUSED, "refused the key", False),
    403: (KEY_REFUSED, "refused the key", False),
    429: (BUSY, "takes no more requests now", True),
}


def closed(
    provider: str, close_code: int | None, reason: str, secret: Secret | None = None
) -> Lost:
    """Return what a close frame (or a drop, 1006) means."""
    close_code = 1006 if close_code is None else close_code
    said = (REFUSED, "refused to go on", False)  # 1007, 1008 and every private code
    code, words, retry = _BY_CLOSE_CODE.get(close_code, said)
    shown = scrub(reason, secret)
    why = f"{provider} {words} ({close_code})" + (f": {shown}" if shown else "")
    return Lost(code, why, retry=retry)


def refused_upgrade(provider: str, status: int) -> Lost:
    """Return what an HTTP status in the place of a WebSocket means."""
    server_fault = (BUSY if status == 503 else FAILED, "is not available", True)
    other = server_fault if status >= 500 else (REFUSED, "refused the connection", False)
    code, words, retry = _BY_STATUS.get(status, other)
    return Lost(code, f"{provider} {words} (HTTP {status})", retry=retry)


def unreachable(provider: str, why: str) -> Lost:
    """Return that there was no connection at all."""
    return Lost(UNREACHABLE, f"{provider} can't be reached: {why}", retry=True)
