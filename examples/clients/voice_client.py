"""A small voice client: says something to a relay and keeps the answer.

    export VOICEBOX_TOKEN=$(.venv/bin/voicebox token)
    .venv/bin/python examples/clients/voice_client.py "add three points to the home team"
    .venv/bin/python examples/clients/voice_client.py examples/audio/add-three-points.wav

The WAV must be PCM16 mono. Prints what the relay tells, writes the spoken answer to answer.wav.
"""

import asyncio
import json
import os
import sys
import wave

import aiohttp
import numpy as np

RELAY = os.environ.get("RELAY", "http://127.0.0.1:8787")
CHUNK_MS = 20


async def talk(said: str) -> None:
    """Hold one conversation of one turn."""
    async with aiohttp.ClientSession() as http, http.ws_connect(f"{RELAY}/live") as relay:
        await relay.send_json({"type": "hello", "token": os.environ["VOICEBOX_TOKEN"]})
        rate = await relay.receive_json()  # always the first answer, unless it is `refused`
        if rate["type"] == "refused":
            sys.exit(f"{rate['refused']}: {rate['why']}")
        answer = bytearray()
        async with asyncio.TaskGroup() as group:
            speaking = None
            async for message in relay:
                if message.type is aiohttp.WSMsgType.BINARY:
                    answer += message.data
                    continue
                told = message.json()
                show(told)
                if told["type"] == "state" and told["state"] == "ready":
                    speaking = group.create_task(speak(relay, said, rate["inputRate"]))
                elif told["type"] == "flush":
                    answer.clear()  # the answer was cut off; play nothing more of it
                elif told["type"] == "state" and told["state"] == "turn-complete":
                    break
            if speaking is not None:
                speaking.cancel()
        await relay.send_json({"type": "stop"})
    keep(bytes(answer), rate["outputRate"])


async def speak(relay: aiohttp.ClientWebSocketResponse, said: str, rate_hz: int) -> None:
    """Type a turn, or stream a WAV in real time and then silence, as a microphone would."""
    if not said.endswith(".wav"):
        await relay.send_json({"type": "text", "text": said})
        return
    pcm = read(said, rate_hz)
    step = rate_hz * CHUNK_MS // 1000 * 2
    for start in range(0, len(pcm), step):
        await relay.send_bytes(pcm[start : start + step])
        await asyncio.sleep(CHUNK_MS / 1000)
    while True:
        await relay.send_bytes(bytes(step))
        await asyncio.sleep(CHUNK_MS / 1000)


def read(file: str, rate_hz: int) -> bytes:
    """PCM16 at the relay's rate; straight lines between samples are good enough for speech."""
    with wave.open(file) as sound:
        samples = np.frombuffer(sound.readframes(sound.getnframes()), "<i2")
        seconds = len(samples) / sound.getframerate()
    wanted = np.linspace(0, len(samples) - 1, int(seconds * rate_hz))
    return np.interp(wanted, np.arange(len(samples)), samples).astype("<i2").tobytes()


def show(told: dict[str, object]) -> None:
    """Print captions and tool calls."""
    if told["type"] == "text" and told["final"]:
        print(f"{told['role']}: {told['text']}")
    elif told["type"] in {"tool", "error", "refused"}:
        print(json.dumps(told, ensure_ascii=False))


def keep(pcm: bytes, rate_hz: int) -> None:
    """Write the answer as a WAV."""
    with wave.open("answer.wav", "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(rate_hz)
        sound.writeframes(pcm)
    print(f"answer.wav: {len(pcm) / 2 / rate_hz:.1f} s")


if __name__ == "__main__":
    asyncio.run(asyncio.wait_for(talk(sys.argv[1]), timeout=60))
