"""How a command reaches a running relay: its address, its token, one HTTP or socket exchange.

Every failure becomes one clear line (CommandError).
"""

import argparse
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from relay.cli.error import CommandError, UnreachableError
from relay.cli.show import printable
from relay.protocol import codec, messages
from relay.protocol.limits import LIMITS
from relay.settings import load_token, read_settings

_HTTP_TIMEOUT = aiohttp.ClientTimeout(total=30, connect=5)


def add_connection_flags(parser: argparse.ArgumentParser) -> None:
    """The flags that every client verb shares."""
    parser.add_argument("--url", help="the relay's address (default: http://127.0.0.1:8787)")
    parser.add_argument("--token", help="the relay's token (default: the one in the state folder)")
    parser.add_argument("--room", default="main", help="the room (default: main)")


class Connection:
    """Where the relay is, and the word that opens it."""

    def __init__(self, args: argparse.Namespace) -> None:
        settings = read_settings(os.environ, token=args.token)
        self.url = (args.url or f"http://{settings.host}:{settings.port}").rstrip("/")
        if not self.url.startswith(("http://", "https://")):
            raise CommandError(f"--url must start with http:// or https://, not {self.url!r}")
        self.room: str = args.room
        self._token = load_token(settings)

    async def ask(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        """One HTTP exchange; a refusal becomes a CommandError."""
        headers = {"Authorization": f"Bearer {self._token}"}
        try:
            async with (
                aiohttp.ClientSession(timeout=_HTTP_TIMEOUT, headers=headers) as session,
                session.request(method, self.url + path, json=body) as response,
            ):
                answer = await response.json()
        except (aiohttp.ContentTypeError, json.JSONDecodeError):
            raise CommandError(f"what answers at {self.url} is no relay") from None
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise self._unreachable(error) from None
        if response.status >= 400 or not isinstance(answer, dict):
            raise _refused(answer)
        return answer

    @asynccontextmanager
    async def socket(
        self, path: str, **hello: Any
    ) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
        """A socket on which hello has been said."""
        address = self.url.replace("http", "ws", 1) + path
        first = messages.Hello(token=self._token, room=self.room, **hello)
        async with aiohttp.ClientSession() as session:
            try:
                socket = await session.ws_connect(
                    address, compress=0, max_msg_size=LIMITS.message_max_bytes, heartbeat=20
                )
                await socket.send_str(codec.encode(first).decode())
            except aiohttp.WSServerHandshakeError as error:
                raise CommandError(f"the relay refused the socket ({error.status})") from None
            except (aiohttp.ClientError, TimeoutError, ValueError) as error:
                raise self._unreachable(error) from None
            async with socket:
                yield socket

    def _unreachable(self, error: Exception) -> UnreachableError:
        reason = f" ({error})" if isinstance(error, aiohttp.InvalidURL) else ""
        return UnreachableError(
            f"no relay answers at {self.url}{reason}; is `voicebox serve` running?"
        )


def _refused(answer: object) -> CommandError:
    if isinstance(answer, dict) and "refused" in answer:
        why = printable(answer.get("why", ""))
        return CommandError(f"refused ({printable(answer['refused'])}): {why}")
    return CommandError(f"the relay answered something unknown: {json.dumps(answer)[:200]}")
