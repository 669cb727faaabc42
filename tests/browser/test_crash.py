"""An app's process ends: the room says so, lives on, and starts the app anew.

Driven over DevTools alone: a driver that follows every frame gives the whole page up for crashed.
"""

import json
from pathlib import Path

import pytest

from scripts.attack_lab.devtools import Devtools
from scripts.attack_lab.room_tab import RoomTab
from scripts.browser_lab.relay_process import RelayProcess
from tests.browser.conftest import ARTEFACTS

pytestmark = pytest.mark.browser

APP = "app_scoreboard"
OFFERED = "document.getElementById('toasts').textContent.includes('Stop Scoreboard')"
CALL = {"team": "home", "points": 2}


def crash_the_apps(devtools: Devtools) -> None:
    """End the process of the apps' frames, as the system does when memory runs out."""
    targets = devtools.send("Target.getTargets", filter=[{"type": "iframe"}])["targetInfos"]
    assert targets, "the app has no process of its own"
    for target in targets:
        told = devtools.send("Target.attachToTarget", targetId=target["targetId"])
        last_word = json.dumps({"id": 1, "method": "Page.crash"})
        devtools.send("Target.sendMessageToTarget", sessionId=told["sessionId"], message=last_word)


def shoot(room: RoomTab, name: str) -> None:
    folder = ARTEFACTS / Path(__file__).stem
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.png").write_bytes(room.picture())


@pytest.mark.timeout(120)
def test_app_crash(relay: RelayProcess) -> None:
    with Devtools() as devtools:
        room = RoomTab(devtools)
        room.open(relay.link)
        room.launch(APP)
        room.wait_for(lambda: "set_score" in relay.tools(), "the app's tools")
        crash_the_apps(devtools)
        room.wait_for(lambda: room.state(APP) in {"not-responding", "lost"}, "the crash")
        shoot(room, "crashed")
        assert room.evaluate(OFFERED)
        room.press(APP, "Restart")
        room.wait_for(lambda: room.state(APP) == "running", "the app anew")
        room.wait_for(lambda: "set_score" in relay.tools(), "its tools")
        assert relay.call("set_score", CALL)["result"] == {"ok": True, "currentScore": 2}
        assert not room.evaluate(OFFERED)  # it would stop what took the place of what hung
        shoot(room, "restarted")
        room.stop(APP)
