"""Listeners on loopback that record whatever arrives: a TCP port for HTTP, a UDP port for STUN.

They answer every HTTP request with an empty page, so that a request that gets out also succeeds.
"""

import socket
import threading
from typing import Self

_ANSWER = (
    b"HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nContent-Type: text/html\r\n"
    b"Content-Length: 0\r\nConnection: close\r\n\r\n"
)
_POLL_S = 0.1
_FIRST_BYTES_S = 0.2


class Witness:
    """A context manager; `requests` and `datagrams` grow while it is open."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        self.datagrams = 0
        self._tcp = socket.create_server(("127.0.0.1", 0))
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", 0))
        self._over = threading.Event()
        self._threads = [
            threading.Thread(target=self._accept, daemon=True),
            threading.Thread(target=self._receive, daemon=True),
        ]

    @property
    def tcp_port(self) -> int:
        """Where requests are recorded."""
        return int(self._tcp.getsockname()[1])

    @property
    def udp_port(self) -> int:
        """Where datagrams are counted."""
        return int(self._udp.getsockname()[1])

    def __enter__(self) -> Self:
        for listener in (self._tcp, self._udp):
            listener.settimeout(_POLL_S)
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()
        self._tcp.close()
        self._udp.close()

    def forget(self) -> None:
        """Start again from nothing."""
        self.requests.clear()
        self.datagrams = 0

    def _accept(self) -> None:
        while not self._over.is_set():
            try:
                connection, _ = self._tcp.accept()
            except TimeoutError:
                continue
            with connection:
                self.requests.append(_first_line(connection))

    def _receive(self) -> None:
        while not self._over.is_set():
            try:
                self._udp.recvfrom(2048)
            except TimeoutError:
                continue
            self.datagrams += 1


def _first_line(connection: socket.socket) -> str:
    """What a peer says first; a peer that only connects counts as well."""
    connection.settimeout(_FIRST_BYTES_S)
    try:
        data = connection.recv(4096)
        connection.sendall(_ANSWER)
    except OSError:
        return "a connection that said nothing"
    return data.split(b"\r\n")[0].decode("latin-1")[:200]
