"""A WebSocket client on a bare socket: it can stop, or die, between any two bytes."""

import base64
import json
import os
import socket
import struct
from typing import Any, Self

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10


class Wire:
    """One connection, upgraded."""

    def __init__(self, url: str, path: str, **headers: str) -> None:
        """Upgrade; `status` says whether it was granted. Headers go over the usual ones."""
        self.host = url.removeprefix("http://")
        name, port = self.host.split(":")
        self.socket = socket.create_connection((name, int(port)), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        usual = {
            "Host": self.host,
            "Upgrade": "websocket",
            "Connection": "Upgrade",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": key,
        }
        lines = [f"{name}: {value}" for name, value in (usual | headers).items()]
        self.socket.sendall("\r\n".join([f"GET {path} HTTP/1.1", *lines, "", ""]).encode())
        self._reader = self.socket.makefile("rb")
        self.status = int(self._reader.readline().split()[1])
        while self._reader.readline() != b"\r\n":
            pass

    def send(self, data: bytes, *, kind: int = TEXT, final: bool = True) -> None:
        self.socket.sendall(frame(data, kind=kind, final=final))

    def say(self, **message: Any) -> None:
        self.send(json.dumps(message).encode())

    def receive(self) -> tuple[int, bytes]:
        """The next frame. Raises: EOFError."""
        head = self._take(2)
        size = head[1]
        if size == 126:
            (size,) = struct.unpack(">H", self._take(2))
        elif size == 127:
            (size,) = struct.unpack(">Q", self._take(8))
        return head[0] & 15, self._take(size)

    def next(self, kind: str) -> dict[str, Any]:
        """The next message of that type; pings are answered on the way."""
        while True:
            opcode, data = self.receive()
            if opcode == PING:
                self.send(data, kind=PONG)
            elif opcode == TEXT:
                told: dict[str, Any] = json.loads(data)
                if told["type"] == kind:
                    return told

    def close_code(self) -> int:
        """Read to the end; the code of the close frame."""
        while True:
            opcode, data = self.receive()
            if opcode == CLOSE:
                return int.from_bytes(data[:2], "big")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Reset the connection, without a word."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._reader.close()
        self.socket.close()

    def _take(self, count: int) -> bytes:
        data = self._reader.read(count)
        if len(data) < count:
            raise EOFError
        return data


def frame(data: bytes, *, kind: int = TEXT, final: bool = True) -> bytes:
    """A frame of a client, masked with nought."""
    first = kind | (0x80 if final else 0)
    if len(data) < 126:
        head = struct.pack(">BB", first, 0x80 | len(data))
    elif len(data) < 1 << 16:
        head = struct.pack(">BBH", first, 0x80 | 126, len(data))
    else:
        head = struct.pack(">BBQ", first, 0x80 | 127, len(data))
    return head + bytes(4) + data
