"""Every attack: a file in `apps/`, and what must come of it. A new one is a file and a row."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from scripts.attack_lab.room_tab import RoomTab
from tests.attacks.acts import (
    look_at_the_console,
    markup_made_of_texts,
    stop_once_it_crashed,
    stop_once_it_hangs,
    type_into_the_room,
    until,
    until_it_wakes_up,
    until_the_flood_is_over,
)

ANYTHING = object()
REPLACED = "lost its connection: its page was replaced"


@dataclass(frozen=True, kw_only=True)
class Case:
    """What is done with a file, and what must be seen afterwards."""

    app: str
    state: str = "running"
    tools: tuple[str, ...] = ("report",)
    call: tuple[str, object] | None = ("report", {})
    result: Any = ANYTHING
    refused: str = ""
    toast: str = ""
    act: Callable[[RoomTab], Any] | None = None
    settle_ms: float = 150
    gap_max_ms: float = 300
    """How long the room may do nothing at all; judged by `scripts/bench/attacks.py`."""


def lost(app: str, toast: str = REPLACED) -> Case:
    """An app whose document goes away loses its channel and its tools, for good."""
    return Case(app=app, state="lost", tools=(), call=None, act=until("lost"), toast=toast)


def stopped(app: str, *, gap_max_ms: float = 300) -> Case:
    """An app that floods is ended."""
    return Case(
        app=app,
        state="stopped",
        tools=(),
        call=None,
        act=until_the_flood_is_over,
        toast="stopped: too many messages",
        settle_ms=2_000,
        gap_max_ms=gap_max_ms,
    )


def shown(app: str, **more: Any) -> Case:
    """However an app's text begins, the SDK ran first and the page is in standards mode."""
    return Case(app=app, result={"mode": "CSS1Compat"} | more)


def refused_all(app: str, how: str, *tries: str) -> Case:
    """An app that reports how each of its tries ended."""
    return Case(app=app, result=dict.fromkeys(tries, how))


def broken_result(tool: str, code: str) -> Case:
    """A tool whose result is refused at once."""
    return Case(app="bad-results", tools=(), call=(f"r_{tool}", {}), refused=code)


NETWORK = [
    refused_all("fetch", "TypeError", "witness", "noCors", "relative", "absolute", "change"),
    refused_all("xhr-and-beacon", "Error", "post", "relay"),
    refused_all("websocket", "Error", "witness", "live", "workspace", "frames"),
    refused_all("event-source", "Error", "witness", "relay"),
    Case(app="subresources", result="runs", settle_ms=500),
    Case(app="worker", result={"fetchInWorker": "TypeError", "byUrl": "SecurityError"}),
    Case(app="nested-frames", result="runs", settle_ms=500),
    Case(app="webrtc", result={"own": "ReferenceError"}, settle_ms=1_500),
    Case(
        app="webrtc-in-a-frame",
        state="",
        tools=(),
        call=None,
        act=stop_once_it_crashed,
        settle_ms=1_500,
    ),
    Case(app="forms", result="runs", settle_ms=500),
    Case(app="own-policies", result={"evil": 4}, settle_ms=500),
    Case(app="strict-own-policy", result="runs"),
]
NAVIGATION = [
    lost("navigate-location"),
    lost("navigate-replace"),
    lost("navigate-blob"),
    lost("navigate-data"),
    lost("navigate-anchor"),
    lost("navigate-meta-refresh"),
    lost("navigate-to-another-app"),
    lost("refresh-to-a-knock"),
    lost("download"),
    lost("reload", "lost its connection: its page was loaded again"),
    Case(app="navigate-javascript", result="first document", settle_ms=700),
    Case(app="document-open", tools=("late", "report"), settle_ms=700),
    Case(app="popups", result={"open": "null", "top": "SecurityError", "parent": "SecurityError"}),
    Case(app="open-links", result="runs", settle_ms=700),
    Case(app="fill-the-history", result="alive", settle_ms=700),
]
ROOM = [
    Case(app="dialogs", result={"confirm": False, "prompt": None}),
    Case(
        app="storage-of-the-room",
        result={
            "cookie": "SecurityError",
            "caches": "SecurityError",
            "files": "SecurityError",
            "cookieStore": "SecurityError",
            "indexedDB": "SecurityError",
            "parentStorage": "SecurityError",
            "parentDocument": "SecurityError",
            "topDocument": "SecurityError",
            "token": None,
            "origin": "null",
            "nonceInPage": False,
        },
    ),
    Case(app="forged-to-the-bridge", result="sent"),
    Case(app="forged-to-other-apps", result={"reached": True}),
    Case(app="transfers", result="sent"),
    Case(app="endless-height", result={"low": True, "narrow": True}, settle_ms=500),
    Case(app="declares-rights", result={"network": "TypeError", "microphone": "SecurityError"}),
    Case(app="steal-the-port", result=[]),
    Case(app="broken-builtins", result="still answers"),
    Case(
        app="steal-the-keyboard",
        state="stopped",
        tools=(),
        call=None,
        act=type_into_the_room,
        result="secret words",
        toast="stopped: it kept taking the keyboard",
    ),
    Case(app="markup-in-texts", call=None, act=markup_made_of_texts, result=0, toast="<img src=x"),
    Case(
        app="permissions",
        result={
            "microphone": "SecurityError",
            "camera": "SecurityError",
            "screen": "NotAllowedError",
            "notification": "denied",
            "usb": "SecurityError",
            "wakeLock": "NotAllowedError",
            "clipboard": "NotAllowedError",
            "allowed": [],
        },
    ),
]
CONTRACT = [
    Case(
        app="many-tools",
        tools=tuple(sorted(f"tool_{i}" for i in range(16))),
        call=("tool_0", {}),
        result={"accepted": 16, "too-many-tools": 984},
        settle_ms=500,
        gap_max_ms=200,
    ),
    Case(
        app="bad-declarations",
        result={
            "dot": "invalid-tool-name",
            "empty": "invalid-tool-name",
            "homoglyph": "invalid-tool-name",
            "space": "invalid-tool-name",
            "long": "invalid-tool-name",
            "noDescription": "invalid-tool-description",
            "longDescription": "invalid-tool-description",
            "ref": "invalid-tool-parameters",
            "deep": "invalid-tool-parameters",
            "wide": "invalid-tool-parameters",
            "proto": "invalid-tool-parameters",
            "cycle": "invalid-tool-declaration",
            "notExecutable": "invalid-tool-declaration",
            "nothing": "invalid-tool-declaration",
            "huge": "invalid-tool-declaration",
            "polluted": None,
        },
    ),
    broken_result("big", "output-over-budget"),
    broken_result("emoji", "output-over-budget"),
    broken_result("cycle", "result-not-serialisable"),
    broken_result("bigint", "result-not-serialisable"),
    broken_result("symbol", "result-not-serialisable"),
    broken_result("fn", "result-not-serialisable"),
    broken_result("node", "result-not-serialisable"),
    broken_result("map", "result-not-serialisable"),
    broken_result("getter", "result-not-serialisable"),
    broken_result("proxy", "result-not-serialisable"),
    broken_result("throws", "mini-app-tool-failed"),
    broken_result("throwsTrap", "mini-app-tool-failed"),
    broken_result("mcpError", "mini-app-tool-failed"),
    Case(app="slow-tool", tools=("never", "report"), call=("never", {}), refused="time-exceeded"),
    Case(
        app="polluting-arguments",
        tools=("keys",),
        call=("keys", {"constructor": 1, "prototype": 2}),
        result={"keys": ["constructor", "prototype"], "polluted": None},
    ),
]
HANGING = [
    Case(app="spin", state="", tools=(), call=None, act=stop_once_it_hangs),
    stopped("flood-the-port", gap_max_ms=200),
    stopped("flood-the-bridge"),
    stopped("flood-the-room", gap_max_ms=2_000),  # what was sent before it ended still arrives
    stopped("flood-with-bytes"),
    Case(
        app="flood-the-console",
        call=None,
        act=look_at_the_console,
        result={"few": True, "short": True, "text": True, "quiet": True},
    ),
]
APPS_THAT_MUST_WORK = [
    shown("byte-order-mark", text="shown"),
    shown("doctype-in-a-comment", text="shown"),
    shown("old-doctype", text="shown"),
    shown("script-end-in-a-string", text="shown"),
    shown("invalid-utf-8", text="sh\ufffd\ufffdown"),
    shown("nul-bytes", text="shown"),
    shown("frameset"),
    Case(app="slow-start", act=until_it_wakes_up, result="awake"),
    Case(app="empty", tools=(), call=None),
    Case(app="silent", tools=(), call=None),
    Case(
        app="storage-in-memory",
        result={
            "get": ["1", "2", None, None],
            "length": 2,
            "keys": ["a", "b", None],
            "names": ["a", "b"],
            "afterDelete": 1,
            "quota": "QuotaExceededError",
            "afterClear": 0,
            "isStorage": True,
        },
    ),
    Case(
        app="what-apps-need",
        result={
            "colour": "rgb(255, 0, 0)",
            "evaluated": 4,
            "best": 1,
            "tall": True,
            "mode": "CSS1Compat",
            "frame": "drawn",
            "data": "hello",
            "blob": "blob",
            "module": 7,
            "wasm": "compiled",
            "image": True,
        },
    ),
    Case(
        app="standard-app",
        tools=("math_add", "report"),
        result={
            "same": True,
            "names": ["math.add"],
            "byObject": '"3"',
            "byText": '"7"',
            "twice": "InvalidStateError",
            "badName": "InvalidStateError",
            "badArguments": "DataError",
            "unknown": "NotFoundError",
            "aborted": "AbortError",
            "badSchema": "TypeError",
        },
    ),
]
CASES = [*NETWORK, *NAVIGATION, *ROOM, *CONTRACT, *HANGING, *APPS_THAT_MUST_WORK]
