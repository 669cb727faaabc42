"""GET /frames and /api/frames: tool frames to dashboards.

A slow dashboard loses its oldest frames and is told how many; it never slows a call.
"""

import asyncio
from collections import deque

import orjson
from aiohttp import hdrs, web

from relay.metrics import Metrics
from relay.protocol import messages
from relay.protocol.limits import Limits
from relay.protocol.messages import ToolFrame
from relay.protocol.refusals import Refusal, RefusalCode
from relay.room import Room
from relay.server.client_socket import ClientSocket, serve_socket
from relay.server.keys import LIMITS, METRICS, ROOMS

_LAST_DEFAULT = 100


class ObserverQueue:
    """The frames that wait for one dashboard; bounded by dropping the oldest."""

    def __init__(self, *, limits: Limits, metrics: Metrics) -> None:
        self._frames: deque[bytes] = deque()
        self._bytes = 0
        self._limits = limits
        self._metrics = metrics
        self._dropped = 0
        self._arrived = asyncio.Event()

    def put(self, _: ToolFrame, encoded: bytes) -> None:
        """Queue a frame."""
        self._frames.append(encoded)
        self._bytes += len(encoded)
        while (
            len(self._frames) > self._limits.observer_queue_max_frames
            or self._bytes > self._limits.observer_queue_max_bytes
        ):
            self._take()
            self._dropped += 1
            self._metrics.frames_dropped.inc()
        self._arrived.set()

    async def pump(self, socket: ClientSocket) -> None:
        """Hand frames to the socket, as fast as it takes them; runs until cancelled."""
        while True:
            await self._arrived.wait()
            await socket.has_room()
            if self._dropped:
                socket.send(messages.Dropped(count=self._dropped))
                self._dropped = 0
            if self._frames:
                socket.send_encoded(self._take())
            else:
                self._arrived.clear()

    def _take(self) -> bytes:
        oldest = self._frames.popleft()
        self._bytes -= len(oldest)
        return oldest


async def frames(request: web.Request) -> web.WebSocketResponse:
    """Hold one dashboard's socket."""
    app = request.app

    async def handle(socket: ClientSocket, hello: messages.Hello) -> None:
        queue = ObserverQueue(limits=app[LIMITS], metrics=app[METRICS])
        room = app[ROOMS].get(hello.room)
        with room.visited("frames"):
            await _observe(socket, room, queue, hello.last)

    return await serve_socket(request, "frames", handle)


async def _observe(socket: ClientSocket, room: Room, queue: ObserverQueue, last: int) -> None:
    history = room.feed.last(last)
    unsubscribe = room.feed.subscribe(queue.put)
    try:
        async with asyncio.TaskGroup() as group:
            pump = group.create_task(_tell(socket, history, queue))
            async for _ in socket.receive():
                socket.refuse(
                    Refusal(RefusalCode.UNKNOWN_MESSAGE, "this socket takes nothing after hello")
                )
            pump.cancel()
    finally:
        unsubscribe()


async def _tell(socket: ClientSocket, history: list[bytes], queue: ObserverQueue) -> None:
    """The past at the dashboard's own pace (it may be larger than the send queue), then news."""
    for encoded in history:
        await socket.has_room()
        socket.send_encoded(encoded)
    await queue.pump(socket)


async def recent_frames(request: web.Request) -> web.Response:
    """GET /api/frames?last=N: the same as JSON."""
    text = request.query.get("last", str(_LAST_DEFAULT))
    bound = request.app[LIMITS].frame_history_max
    known = text.isascii() and text.isdecimal() and len(text) <= len(str(bound))
    if not known or int(text) > bound:
        raise Refusal(RefusalCode.BAD_REQUEST, f"last must be a number from 0 to {bound}")
    room = request.app[ROOMS].get(request.query.get("room", "main"))
    kept = [orjson.Fragment(encoded) for encoded in room.feed.last(int(text))]
    body = orjson.dumps({"ok": True, "frames": kept, "count": len(kept)})
    return web.Response(body=body, content_type="application/json", charset="utf-8")


async def metrics(request: web.Request) -> web.Response:
    """GET /metrics: Prometheus text."""
    known = request.app[METRICS]
    known.tasks.set(len(asyncio.all_tasks()))
    headers = {hdrs.CONTENT_TYPE: "text/plain; version=0.0.4; charset=utf-8"}
    return web.Response(body=known.text(), headers=headers)
