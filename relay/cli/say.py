"""voicebox say: speak a WAV (or typed text) to the relay, as a voice client would.

Prints captions and tool frames, writes the answer's sound to a file, and ends by itself.
"""

import argparse
import asyncio
import json
from contextlib import suppress
from pathlib import Path
from time import monotonic

import aiohttp

from relay.cli.connection import Connection, add_connection_flags
from relay.cli.error import CommandError
from relay.cli.show import frame_line, printable
from relay.protocol import codec, messages
from relay.protocol.audio import AudioFormat
from relay.protocol.refusals import Refusal

_CHUNK_MS = 20
_LEAD_IN_MS = 200
# Long enough for every end-pointer to notice that the person has stopped
_LEAD_OUT_MS = 1_500
_QUIET_S = 2.5
# Sound that was streamed faster than real time may still be on its way through the model
_QUIET_FAST_S = 10.0
_LOOK_S = 0.1


def configure(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = commands.add_parser("say", help="speak a WAV or typed text to the relay")
    parser.add_argument("wav", nargs="?", type=Path, help="a WAV file of any rate and width")
    parser.add_argument("--text", help="type this instead of speaking")
    parser.add_argument("--out", type=Path, default=Path("answer.wav"), help="answer.wav")
    parser.add_argument("--json", action="store_true", help="one JSON line per message")
    parser.add_argument("--fast", action="store_true", help="stream faster than real time")
    parser.add_argument("--provider", help="the live model, instead of the relay's default")
    parser.add_argument(
        "--timeout", type=float, default=60, help="give up after so many silent seconds (60)"
    )
    add_connection_flags(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Hold one short conversation. What is wrong with the files is told before it begins."""
    if (args.wav is None) == (args.text is None):
        raise CommandError("give a WAV file or --text, one of them")
    if not args.out.parent.is_dir():
        raise CommandError(f"{args.out} can't be written: there is no such folder")
    talk = _Talk(args)
    asyncio.run(talk.hold())
    talk.write_answer()
    return 0


class _Talk:
    """One conversation, from hello to the end of the answer."""

    def __init__(self, args: argparse.Namespace) -> None:
        from relay.cli.wav import read_wav

        self._args = args
        self._sound = None if args.wav is None else read_wav(args.wav)
        self._connection = Connection(args)
        self._answer = bytearray()
        self._rate: messages.Rate | None = None
        self._ready = asyncio.Event()
        self._listening = False
        self._answered = False
        self._ended = False
        self._last_news = monotonic()

    async def hold(self) -> None:
        fault: Exception | None = None
        hello = {} if self._args.provider is None else {"provider": self._args.provider}
        try:
            async with self._connection.socket("/live", **hello) as socket:
                await self._converse(socket)
        except* (CommandError, Refusal) as errors:
            fault = _first(errors)
        except* aiohttp.ClientError:
            fault = CommandError("the connection to the relay was lost")
        if fault is not None:
            raise fault

    async def _converse(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        async with asyncio.TaskGroup() as group:
            halves = [group.create_task(half) for half in (self._speak(socket), self._watch())]
            await self._listen(socket)
            for half in halves:
                half.cancel()

    async def _watch(self) -> None:
        while monotonic() - self._last_news < self._args.timeout:  # noqa: ASYNC110 - see _over
            await asyncio.sleep(_LOOK_S)
        raise CommandError(f"nothing came from the relay for {self._args.timeout:g} s")

    async def _speak(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        await self._ready.wait()
        with suppress(ConnectionError):  # the listening half knows how the session ended
            if self._args.text is not None:
                await socket.send_str(codec.encode(messages.Text(text=self._args.text)).decode())
            else:
                await self._stream(socket)
            while not self._over():  # noqa: ASYNC110 - quiet is the absence of events
                await asyncio.sleep(_LOOK_S)
            self._ended = True
            await socket.send_str(codec.encode(messages.Stop()).decode())

    async def _stream(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        assert self._rate is not None
        assert self._sound is not None
        audio = AudioFormat(self._rate.input_rate)
        spoken = await asyncio.to_thread(self._sound.pcm16, audio.rate_hz)
        silence = [bytes(audio.bytes_for(ms)) for ms in (_LEAD_IN_MS, _LEAD_OUT_MS)]
        pcm = silence[0] + spoken + silence[1]
        step = audio.bytes_for(_CHUNK_MS)
        began = monotonic()
        for number, start in enumerate(range(0, len(pcm), step)):
            early = began + number * _CHUNK_MS / 1000 - monotonic()
            await asyncio.sleep(0 if self._args.fast else max(early, 0))
            await socket.send_bytes(pcm[start : start + step])
            self._last_news = monotonic()

    def _over(self) -> bool:
        """Everything was said, every answer is whole, and it has been quiet for a while."""
        if self._args.text is not None:
            return self._answered
        patient = self._args.fast and not self._answered
        quiet_s = monotonic() - self._last_news
        return not self._listening and quiet_s > (_QUIET_FAST_S if patient else _QUIET_S)

    async def _listen(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        async for message in socket:
            self._last_news = monotonic()
            if message.type is aiohttp.WSMsgType.BINARY:
                self._answer += message.data
            elif message.type is aiohttp.WSMsgType.TEXT:
                if self._args.json:
                    print(message.data, flush=True)
                self._on(codec.decode_live_server(message.data))
        if not self._ended:
            raise CommandError("the relay ended the session before the answer was whole")

    def _on(self, told: messages.LiveServerMessage) -> None:
        match told:
            case messages.Rate():
                self._rate = told
            case messages.State():
                self._follow(told)
            case messages.Refused(refused=code, why=why):
                raise CommandError(f"refused ({printable(code)}): {printable(why)}")
            case messages.Error(code=code, message=text, fatal=fatal):
                line = f"{printable(code)}: {printable(text)}"
                if fatal:
                    raise CommandError(line)
                self._say(line)
            case messages.Text(role=role, text=text) if told.final is True and text:
                self._say(f"{role}: {printable(text)}")
            case messages.ToolFrame():
                self._say(frame_line(told))
            case _:
                pass

    def _follow(self, told: messages.State) -> None:
        match told.state:
            case "ready":
                self._ready.set()
            case "listening" | "thinking" | "speaking":
                self._listening = True
            case "turn-complete":
                self._listening = False
                self._answered = True
            case "closed" if told.code == 1000:
                self._ended = True
            case _:
                pass

    def _say(self, line: str) -> None:
        if not self._args.json:
            print(line, flush=True)

    def write_answer(self) -> None:
        from relay.cli.wav import write_wav

        file, ms = None, 0
        if self._rate is not None and self._answer:
            file = str(self._args.out)
            write_wav(self._args.out, bytes(self._answer), self._rate.output_rate)
            ms = round(AudioFormat(self._rate.output_rate).ms_of(len(self._answer)))
        if self._args.json:
            print(json.dumps({"type": "answer", "file": file, "ms": ms}))
        else:
            print("no spoken answer" if file is None else f"answer: {file} ({ms} ms)")


def _first(errors: BaseExceptionGroup[Exception]) -> Exception:
    """The first fault of a group, however deep it lies."""
    found: Exception | BaseExceptionGroup[Exception] = errors
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    return found
