"""A live model in a process of its own, to be killed. Usage: upstream.py PORT STATE.

It prints `here`, waits for a line, listens and prints `listening`. It speaks OpenAI Realtime as the
strict fake does, and takes each connection to STATE, then prints `reached`: `dialling` (never
upgrades), `setup` (never greets), `ready`, `calling` (a call is out), `answering` (half an answer
is out). In the state `whole` it is ready and answers every typed turn with a call. Faults of its
client that the fake noted are printed at each step.
"""

import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.fakes.openai_realtime import FakeOpenAI, OpenAIConnection, Response

SECOND = b"\1\0" * 24_000


def say(word: str) -> None:
    sys.stdout.write(word + "\n")
    sys.stdout.flush()


async def mute(port: int) -> None:
    """Accept, and say nothing; not even an upgrade."""

    async def accept(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.readline()
        say("reached")
        await asyncio.Event().wait()

    async with await asyncio.start_server(accept, "127.0.0.1", port):
        say("listening")
        await asyncio.Event().wait()


async def call(response: Response) -> None:
    await response.call("set_score", '{"team": "home", "points": 3}')
    await response.done()


async def reach(connection: OpenAIConnection, state: str) -> None:
    if state != "setup":
        await connection.ready()
    if state == "calling":
        await call(await connection.response())
    elif state == "answering":
        response = await connection.response()
        item = await response.message()
        await response.audio(item, SECOND)
    say("reached")
    while state == "whole":
        await call(await connection.asked())
        await (await connection.asked()).speak(SECOND[:960], "done")


async def serve(port: int, state: str) -> None:
    async with FakeOpenAI(key="", port=port) as server:
        server.greeting_delay_s = 3_600 if state == "setup" else 0
        say("listening")
        while True:
            await reach(await server.connection(), state)
            if server.faults:
                say(repr(server.faults))


def main(port: int, state: str) -> None:
    say("here")
    sys.stdin.readline()
    asyncio.run(mute(port) if state == "dialling" else serve(port, state))


main(int(sys.argv[1]), sys.argv[2])
