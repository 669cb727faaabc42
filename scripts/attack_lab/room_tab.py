"""A tab with the room in it, and everything that an app did to it."""

import base64
import json
import time
from collections.abc import Callable
from typing import Any

from scripts.attack_lab.devtools import Devtools, DevtoolsError
from scripts.browser_lab.room_page import FORGET, HEARTBEAT

WAIT_S = 40.0
_POLL_S = 0.025
_PANEL = "#mini-app-container > [data-app-id=%s]"


class RoomTab:
    """One tab; its lists grow with what happens in it."""

    def __init__(self, devtools: Devtools) -> None:
        self.dialogs: list[str] = []
        self.popups: list[str] = []
        self.downloads: list[str] = []
        self.crashed = False
        self._devtools = devtools
        self._target = ""
        devtools.on_event = self._event
        devtools.send("Target.setDiscoverTargets", discover=True)
        devtools.send("Browser.setDownloadBehavior", behavior="deny", eventsEnabled=True)
        self._target = devtools.send("Target.createTarget", url="about:blank")["targetId"]
        attached = devtools.send("Target.attachToTarget", targetId=self._target, flatten=True)
        self._session = attached["sessionId"]
        self._send("Page.enable")
        self._send("Inspector.enable")
        self._send("Page.addScriptToEvaluateOnNewDocument", source=HEARTBEAT)
        self.forget_events()

    def close(self) -> None:
        """Close the tab."""
        self._devtools.send("Target.closeTarget", targetId=self._target)

    def to_front(self) -> None:
        """Make it the tab that is seen: another one draws nothing and has no keyboard."""
        self._send("Page.bringToFront")

    def open(self, link: str) -> None:
        """Load the room and wait for the relay and the list of apps."""
        self._send("Page.navigate", url=link)
        self.wait_until("document.querySelector('#connection[data-state=open]') !== null")
        self.wait_until("document.querySelector('#tray > li') !== null")

    def launch(self, app_id: str) -> None:
        """Press the card's button."""
        self.evaluate(f"document.querySelector('#tray > [data-app-id={app_id}] button').click()")

    def press(self, app_id: str, verb: str) -> None:
        """Press a button of the panel by what it does: `Restart` or `Stop`."""
        panel = json.dumps(_PANEL % app_id)
        self.evaluate(
            f"document.querySelector({panel}).querySelector('[aria-label^={verb}]').click()"
        )

    def stop(self, app_id: str) -> None:
        """Press the panel's Stop button and wait until the panel is gone."""
        panel = json.dumps(_PANEL % app_id)
        stop = "[aria-label^=Stop]"
        self.evaluate(f"document.querySelector({panel})?.querySelector('{stop}').click()")
        self.wait_until(f"document.querySelector({panel}) === null")

    def state(self, app_id: str) -> str:
        """What the app's panel shows; empty without a panel."""
        panel = json.dumps(_PANEL % app_id)
        return str(self.evaluate(f"document.querySelector({panel})?.dataset.state ?? ''"))

    def url(self) -> str:
        """Where the tab is."""
        return str(self.evaluate("location.href"))

    def toasts(self) -> list[str]:
        """Every notice since the last `forget`, newest first."""
        items = "[...document.querySelectorAll('#messages > li')]"
        return list(self.evaluate(f"{items}.map((item) => item.lastChild.textContent)"))

    def picture(self) -> bytes:
        """What is on the screen, as PNG."""
        return base64.b64decode(self._send("Page.captureScreenshot")["data"])

    def max_gap_ms(self) -> float:
        """The longest time since the last `forget` in which the page did nothing at all."""
        return float(self.evaluate("window.__maxGapMs"))

    def forget(self) -> None:
        """Take what happened so far as seen."""
        self.evaluate(FORGET)
        self.forget_events()

    def forget_events(self) -> None:
        """Take dialogs, popups and downloads so far as seen."""
        for seen in (self.dialogs, self.popups, self.downloads):
            seen.clear()

    def click(self, element_id: str) -> None:
        """Press the mouse in the middle of an element, as a person does."""
        element = f"document.getElementById({json.dumps(element_id)})"
        self.evaluate(f"{element}.scrollIntoView({{ block: 'center' }})")
        box = self.evaluate(f"{element}.getBoundingClientRect().toJSON()")
        place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
        for kind in ("mousePressed", "mouseReleased"):
            self._send("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **place)

    def type_text(self, text: str, pause_s: float) -> None:
        """Press one key after the other, as a person does."""
        for letter in text:
            for kind in ("keyDown", "keyUp"):
                params = {"text": letter} if kind == "keyDown" else {}
                self._send("Input.dispatchKeyEvent", type=kind, key=letter, **params)
            self.wait(pause_s)

    def alive(self) -> dict[str, int]:
        """What of the page's process is left after a sweep: listeners, ports, frames, documents."""
        self._send("Performance.enable")
        for _ in range(2):  # what the first sweep frees may have held something else
            self._send("HeapProfiler.collectGarbage")
        told = self._send("Performance.getMetrics")["metrics"]
        counts = {metric["name"]: int(metric["value"]) for metric in told}
        return {
            "listeners": counts["JSEventListeners"],
            "ports": self._instances("MessagePort"),
            "frames": counts["Frames"],
            "documents": counts["Documents"],
        }

    def _instances(self, name: str) -> int:
        """How many objects of a class the page's own realm keeps."""
        prototype = self._send("Runtime.evaluate", expression=f"{name}.prototype")
        found = self._send(
            "Runtime.queryObjects", prototypeObjectId=prototype["result"]["objectId"]
        )
        list_id = found["objects"]["objectId"]
        count = self._send(
            "Runtime.callFunctionOn",
            objectId=list_id,
            functionDeclaration="function () { return this.length; }",
            returnByValue=True,
        )
        self._send("Runtime.releaseObject", objectId=list_id)
        return int(count["result"]["value"])

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self._devtools.wait(seconds)

    def wait_until(self, expression: str) -> None:
        """Wait until a script's value is true. Raises: TimeoutError."""
        self.wait_for(lambda: self.evaluate(f"Boolean({expression})"), expression)

    def wait_for(self, holds: Callable[[], object], what: str = "it") -> None:
        """Ask until it holds. Raises: TimeoutError, DevtoolsError once the page has crashed."""
        until = time.monotonic() + WAIT_S
        while not holds():
            if self.crashed:
                raise DevtoolsError("the page crashed")
            if time.monotonic() > until:
                raise TimeoutError(f"waited in vain for {what}")
            self.wait(_POLL_S)

    def evaluate(self, expression: str) -> Any:
        """The value of a script in the room's page. Raises: DevtoolsError if it throws."""
        told = self._send(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in told:
            raise DevtoolsError(f"{expression}: {told['exceptionDetails'].get('text')}")
        return told["result"].get("value")

    def _send(self, method: str, **params: Any) -> Any:
        return self._devtools.send(method, self._session, **params)

    def _event(self, event: dict[str, Any]) -> None:
        params = event.get("params", {})
        match event["method"]:
            case "Page.javascriptDialogOpening":
                self.dialogs.append(params["type"])
                self._send("Page.handleJavaScriptDialog", accept=False)
            case "Target.targetCreated" if params["targetInfo"].get("openerId") == self._target:
                self.popups.append(params["targetInfo"]["url"])
            case "Browser.downloadWillBegin":
                self.downloads.append(params["url"])
            case "Inspector.targetCrashed" if event.get("sessionId") == self._session:
                self.crashed = True
