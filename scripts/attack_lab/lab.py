"""Runs one HTML file as a mini-app in the real product and reports what came of it."""

import json
import tempfile
import time
from collections.abc import Callable, Collection
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from scripts.attack_lab.addresses import all_names_lead_to, with_addresses
from scripts.attack_lab.devtools import Devtools, DevtoolsError
from scripts.attack_lab.room_tab import RoomTab
from scripts.browser_lab.relay_process import RelayProcess
from scripts.browser_lab.witness import Witness

GOOD_APP = """<!doctype html>
<title>Good app</title>
<script>
webMcp.registerTool({
  name: "good_echo",
  description: "Says what it is told",
  parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  execute: ({ text }) => text,
});
webMcp.ready();
</script>
"""
ATTACK, GOOD = "app_attack", "app_good"
STARTED = ("running", "not-responding", "lost", "stopped")


@dataclass(kw_only=True)
class Report:
    """What one file did; `requests` are all that got out, to the witness or to the relay."""

    requests: list[str]
    datagrams: int
    dialogs: list[str]
    popups: list[str]
    downloads: list[str]
    max_gap_ms: float
    room_url_unchanged: bool
    good_app_answered: bool
    good_app_ms: float
    app_state: str
    tools: list[str]
    toasts: list[str]
    result: Any = None

    def contained(self) -> bool:
        """Whether nothing got out and the room is as it was."""
        escaped = self.requests or self.datagrams or self.dialogs or self.popups or self.downloads
        return not escaped and self.room_url_unchanged and self.good_app_answered

    def as_json(self) -> dict[str, Any]:
        """The same with the keys of JavaScript."""
        return {_camel(key): value for key, value in asdict(self).items()}


class Lab:
    """A context manager: witness, relay, browser, and a room with a good app in it.

    The same room meets one file after the other; it is opened anew only if one broke it.
    """

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._room: RoomTab | None = None

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="voicebox-attack-"))
            self.apps = Path(folder) / "mini-apps"
            self.apps.mkdir()
            self.workspace = Path(folder) / "workspace"
            self._log = Path(folder) / "requests"
            self.witness = stack.enter_context(Witness())
            self._log.touch()
            serve = ["-m", "scripts.attack_lab.serve", str(self._log)]
            env = {
                "VOICEBOX_EXTENSIONS_DIR": folder,
                "VOICEBOX_WORKSPACE": str(self.workspace),
                "HOME": folder,
            }
            self.relay = stack.enter_context(RelayProcess(serve, env=env))
            flags = [all_names_lead_to(self.witness.tcp_port)]
            self._devtools = stack.enter_context(Devtools(flags))
            self._stack = stack.pop_all()
        (self.apps / "good.html").write_text(GOOD_APP)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def paths(self) -> list[str]:
        """The path of every request that reached the relay so far, the room's own too."""
        return [json.loads(line)["path"] for line in self._lines()]

    def run(
        self,
        html: bytes,
        *,
        settle_ms: float = 300,
        tools: Collection[str] = (),
        call: tuple[str, object] | None = None,
        act: Callable[[RoomTab], Any] | None = None,
    ) -> Report:
        """Launch it beside a good app, let it do its worst for `settle_ms`, look at everything.

        It has that time once its `tools` are offered. `call` runs one of them; `act` does
        something in the room meanwhile. What they answer is the report's `result`.
        """
        room = self._whole_room()
        (self.apps / "attack.html").write_bytes(with_addresses(html, self.witness, self.relay.url))
        seen = self._seen()
        self.witness.forget()
        room.to_front()
        room.forget()
        url = room.url()
        try:
            result = self._attack(room, settle_ms, tools, call, act)
            return self._report(room, url=url, seen=seen, result=result)
        finally:
            self._clear(room)

    def _whole_room(self) -> RoomTab:
        """The room of the run before, or a new one if that was broken."""
        if self._room is None:
            (self.apps / "attack.html").write_text("<p>nothing yet</p>")
            room = RoomTab(self._devtools)
            room.wait_for(lambda: "good_echo" not in self.relay.tools(), "the end of the old room")
            room.open(self.relay.link)
            room.launch(GOOD)
            room.wait_for(lambda: "good_echo" in self.relay.tools(), "the good app")
            self._room = room
        return self._room

    def _clear(self, room: RoomTab) -> None:
        try:
            room.stop(ATTACK)
            room.wait_for(lambda: not self._tools(), "the end of the app's tools")
            if room.state(GOOD) == "running":
                return
        except (DevtoolsError, TimeoutError):
            pass  # the run broke the room; its report says so
        self._room = None
        with suppress(DevtoolsError):
            room.close()

    def _attack(
        self,
        room: RoomTab,
        settle_ms: float,
        tools: Collection[str],
        call: tuple[str, object] | None,
        act: Callable[[RoomTab], Any] | None,
    ) -> Any:
        room.launch(ATTACK)
        room.wait_for(lambda: room.state(ATTACK) in STARTED, "the app's start")
        result = act(room) if act else None
        wanted = {*tools, call[0]} if call else {*tools}
        room.wait_for(lambda: wanted <= set(self._tools()), f"the tools {wanted}")
        room.wait(settle_ms / 1000)
        return self.relay.call(*call) if call else result

    def _report(self, room: RoomTab, *, url: str, seen: int, result: Any) -> Report:
        started = time.monotonic()
        answer = self.relay.call("good_echo", {"text": "hello"})
        good_app_ms = (time.monotonic() - started) * 1000
        return Report(
            requests=[*self.witness.requests, *self._foreign(seen)],
            datagrams=self.witness.datagrams,
            dialogs=[*room.dialogs],
            popups=[*room.popups],
            downloads=[*room.downloads],
            max_gap_ms=round(room.max_gap_ms(), 1),
            room_url_unchanged=room.url() == url,
            good_app_answered=answer.get("result") == "hello",
            good_app_ms=round(good_app_ms, 1),
            app_state=room.state(ATTACK),
            tools=self._tools(),
            toasts=room.toasts(),
            result=result,
        )

    def _tools(self) -> list[str]:
        """What the attack offers to models now."""
        declared = self.relay.ask("GET", "/api/tools")["tools"]
        return sorted(tool["name"] for tool in declared if tool.get("appId") == ATTACK)

    def _seen(self) -> int:
        return len(self._lines())

    def _lines(self) -> list[str]:
        return self._log.read_text(encoding="utf-8").splitlines()

    def _foreign(self, seen: int) -> list[str]:
        """Requests to the relay that the room's own page did not make."""
        requests = [json.loads(line) for line in self._lines()[seen:]]
        return [
            f"{request['method']} {request['path']}"
            for request in requests
            if request.get("Origin", self.relay.url) != self.relay.url
            or request.get("Sec-Fetch-Site", "none") not in {"none", "same-origin"}
        ]


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
