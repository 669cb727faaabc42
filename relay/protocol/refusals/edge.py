"""Why HTTP requests and sockets are refused, and what to do about it."""

from relay.protocol.refusals.codes import RefusalCode as C
from relay.protocol.refusals.explained import Explained

EXPLAINED: dict[C, Explained] = {
    C.UNAUTHENTICATED_CALL: Explained(
        "No token was given, or the first message was not hello.",
        "Send the token: Authorization: Bearer on HTTP, hello on a socket.",
        401,
    ),
    C.BEARER_REFUSED: Explained(
        "The token is not the relay's.",
        "Use the token that the relay printed at its start.",
        401,
    ),
    C.HOST_REFUSED: Explained(
        "The Host header names no address of this relay.",
        "Open the relay as 127.0.0.1, localhost or [::1] with its own port.",
        421,
    ),
    C.ORIGIN_REFUSED: Explained(
        "The request comes from another page than the relay's own.",
        "Use the relay's own page, or a program that sends no Origin and has the token.",
        403,
    ),
    C.UNSUPPORTED_CONTENT_TYPE: Explained(
        "The body is not application/json.",
        "Send application/json.",
        415,
    ),
    C.BODY_TOO_LARGE: Explained(
        "The body is over the route's bound.",
        "Send less.",
        413,
    ),
    C.BAD_JSON: Explained(
        "The body or message is not JSON.",
        "Send valid JSON in UTF-8.",
    ),
    C.BAD_REQUEST: Explained(
        "A field is missing, unknown or of the wrong shape.",
        "Follow the reference; the sentence names the field.",
    ),
    C.UNKNOWN_MESSAGE: Explained(
        "The message's type is not known on this socket.",
        "Send only the messages of the reference.",
    ),
    C.UNKNOWN_PROVIDER: Explained(
        "No live model of that name is configured.",
        "Choose one of the names in the sentence.",
    ),
    C.PROVIDER_UNAVAILABLE: Explained(
        "The chosen live model can't be started.",
        "The sentence says what is missing.",
        503,
    ),
    C.RATE_LIMITED: Explained(
        "Too many requests of this kind in a short time.",
        "Wait a moment.",
        429,
    ),
    C.SERVER_FULL: Explained(
        "The relay holds as many connections of this kind as it may, or its machine has no memory.",
        "Close one, or raise the setting.",
        503,
    ),
    C.INTERNAL_ERROR: Explained(
        "A fault in the relay; its log has the details.",
        "Report it with the log's line.",
        500,
    ),
}
