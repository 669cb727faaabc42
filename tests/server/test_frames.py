import asyncio

import pytest

from relay.metrics import Metrics
from relay.protocol.limits import Limits
from relay.protocol.messages import Message, ToolFrame
from relay.server.frames import ObserverQueue
from tests.server.conftest import Relay, StartRelay


async def test_a_dashboard_gets_the_last_frames_and_then_each_new_one(relay: Relay) -> None:
    for name in ("first", "second"):
        await relay.ask("POST", "/api/call", json={"name": name})
    dashboard = await relay.socket("/frames", last=2)
    told = [await dashboard.next() for _ in range(2)]
    assert [(frame["name"], frame["state"]) for frame in told] == [
        ("second", "called"),
        ("second", "done"),
    ]
    await relay.ask("POST", "/api/call", json={"name": "third"})
    assert (await dashboard.next())["name"] == "third"


async def test_a_dashboard_has_nothing_to_say(relay: Relay) -> None:
    dashboard = await relay.socket("/frames")
    await dashboard.say(type="stop")
    assert (await dashboard.next())["refused"] == "unknown-message"
    await relay.ask("POST", "/api/call", json={"name": "still_here"})
    assert (await dashboard.next())["name"] == "still_here"


async def test_a_long_past_is_told_at_the_dashboards_pace(start_relay: StartRelay) -> None:
    relay = await start_relay(send_queue_max_bytes=20_000)
    for number in range(60):
        await relay.ask("POST", "/api/call", json={"name": f"call_{number}_{'x' * 50}"})
    dashboard = await relay.socket("/frames", last=1_000)
    told = [await dashboard.next("tool") for _ in range(120)]
    assert [frame["name"][:8] for frame in told[::2]] == [
        f"call_{n}_{'x' * 50}"[:8] for n in range(60)
    ]
    assert sum(len(str(frame)) for frame in told) > 20_000


class SlowSocket:
    """A client socket whose client reads only when it is let."""

    def __init__(self) -> None:
        self.reading = asyncio.Event()
        self.told: list[Message | bytes] = []

    async def has_room(self) -> None:
        await self.reading.wait()

    def send(self, message: Message) -> None:
        self.told.append(message)

    def send_encoded(self, text: bytes) -> None:
        self.told.append(text)


@pytest.mark.parametrize("bound", ["observer_queue_max_frames", "observer_queue_max_bytes"])
async def test_a_slow_dashboard_loses_the_oldest_frames_and_is_told_how_many(bound: str) -> None:
    limits = Limits(**{bound: 3})
    queue = ObserverQueue(limits=limits, metrics=Metrics())
    socket = SlowSocket()
    pump = asyncio.create_task(queue.pump(socket))  # type: ignore[arg-type]
    frame = ToolFrame(state="called", call_id="c", name="t", host="none")
    for number in range(5):
        queue.put(frame, b"%d" % number)
    socket.reading.set()
    while len(socket.told) < 4:  # noqa: ASYNC110 - the fake socket has no event
        await asyncio.sleep(0)
    pump.cancel()
    assert socket.told[0].count == 2  # type: ignore[union-attr]
    assert socket.told[1:] == [b"2", b"3", b"4"]
