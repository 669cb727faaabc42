"""What is done in the room while an attack runs, and what is seen of it there."""

from collections.abc import Callable

from scripts.attack_lab.lab import ATTACK, GOOD
from scripts.attack_lab.room_tab import RoomTab

KEYS_MAX = 300


def until(state: str) -> Callable[[RoomTab], None]:
    """Wait for what the room makes of the app."""

    def wait(room: RoomTab) -> None:
        room.wait_for(lambda: room.state(ATTACK) == state, f"the state {state}")

    return wait


def until_the_flood_is_over(room: RoomTab) -> None:
    """The app is ended; what it had sent by then still arrives, and its process is busy."""
    until("stopped")(room)
    room.wait(1.0)
    room.wait_for(lambda: room.state(GOOD) == "running", "the good app")


def stop_once_it_hangs(room: RoomTab) -> None:
    """What a person does: see that it hangs, press Stop; the app beside it must live on."""
    until("not-responding")(room)
    room.stop(ATTACK)
    room.wait_for(lambda: room.state(GOOD) == "running", "the good app")


def until_it_wakes_up(room: RoomTab) -> None:
    """It is slow, not gone: what hangs behind its load comes back."""
    until("not-responding")(room)
    until("running")(room)


def stop_once_it_crashed(room: RoomTab) -> None:
    """The browser ends the app's process; the app beside it, in the same one, is started anew."""
    room.wait_for(lambda: room.state(ATTACK) in {"not-responding", "lost"}, "the crash")
    room.stop(ATTACK)
    room.wait_for(lambda: room.state(GOOD) == "running", "the good app")


def type_into_the_room(room: RoomTab) -> str:
    """Go on typing while the app grabs the keyboard: it is stopped, and then the words land.

    Also at once after its launch, when the app has the keyboard already and may have it.
    """
    room.click("say-text")
    for _ in range(KEYS_MAX):
        if room.state(ATTACK) == "stopped":
            break
        room.type_text("x", 0.06)
    room.evaluate("document.getElementById('say-text').value = ''")
    room.click("say-text")
    room.type_text("secret words", 0.01)
    return str(room.evaluate("document.getElementById('say-text').value"))


def markup_made_of_texts(room: RoomTab) -> int:
    """How many elements the app's texts became in the room's page."""
    room.wait_until("document.querySelector('#messages > li') !== null")
    return int(room.evaluate("document.querySelectorAll('img, b, [onerror]').length"))


def look_at_the_console(room: RoomTab) -> dict[str, bool]:
    """What the room keeps of an app that says too much, and whether any of it became markup."""
    panel = f"#mini-app-container > [data-app-id={ATTACK}]"
    room.wait_until(f"Number(document.querySelector('{panel} .count').textContent) > 1000")
    room.evaluate(f"document.querySelector('{panel} summary').click()")
    room.wait_until(f"document.querySelector('{panel} .console-line') !== null")
    lines = f"[...document.querySelectorAll('{panel} .console-text')]"
    return {
        "few": bool(room.evaluate(f"{lines}.length <= 100")),
        "short": bool(room.evaluate(f"{lines}.every((one) => one.textContent.length <= 2100)")),
        "text": bool(room.evaluate(f"{lines}.every((one) => one.childElementCount === 0)")),
        "quiet": len(room.toasts()) <= 1,
    }
