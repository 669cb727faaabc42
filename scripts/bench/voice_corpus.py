"""What the bench of the embedded voice says: commands, voices, noise. It judges nothing."""

import hashlib
import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from voice_noise import NOISY, RATE_HZ, alone, mixed

HERE = Path(__file__).parent
VOICES = ("flite slt", "flite rms", "flite awb", "espeak-ng en-us", "espeak-ng en-gb")
CONDITIONS = ("clean", *NOISY)
_NINE = "clean, nine tools"
_PROMPTS = Path("/usr/share/asterisk/sounds/en_US_f_Allison")
_ELSEWHERE, _PROMPTS_MAX, _NOISES = 30, 60, 20


class Clip(NamedTuple):
    """One utterance and what it should lead to; `tool` is None for what is no command."""

    group: str
    voice: str
    condition: str
    says: str
    tools: list[dict[str, Any]]
    tool: str | None
    args: dict[str, Any]
    pcm: bytes

    @property
    def has_text(self) -> bool:
        """Whether a free text is among the values, which a synthetic voice seldom gets right."""
        schemas = {tool["name"]: tool["parameters"]["properties"] for tool in self.tools}
        wanted = schemas.get(self.tool or "", {})
        return any(
            wanted[name]["type"] == "string" and "enum" not in wanted[name] for name in self.args
        )


def _maker() -> Any:
    path = HERE.parent / "make_example_audio.py"
    spec = importlib.util.spec_from_file_location("make_example_audio", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_MAKER = _maker()


@cache
def spoken(voice: str, text: str) -> bytes:
    """A sentence as PCM16 at `RATE_HZ`; always the same for the same voice and text."""
    return bytes(_MAKER.sound(voice, text).astype("<i2").tobytes())


@cache
def sounds(text: str) -> str:
    """Its phonemes; the same for words that sound the same."""
    command = ["espeak-ng", "-q", "-x", "-v", "en-us", text]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return "".join(letter for letter in said if letter not in " ',:_\n")


def synthetic(name: str, voices: tuple[str, ...], conditions: tuple[str, ...]) -> Iterator[Clip]:
    """A set of `voice_data/`: its commands, then what is no command, in every voice."""
    data = _data(name)
    apps = data["apps"]
    others = _others(voices) if len(conditions) > 1 else []
    for app in apps:
        for command in app["commands"]:
            for voice in voices:
                for condition in conditions:
                    pcm = mixed(spoken(voice, command["says"]), condition, command["says"], others)
                    yield Clip(
                        name, voice, condition, command["says"], app["tools"], command["tool"],
                        command["args"], pcm,
                    )  # fmt: skip
    for number, says in enumerate(data["notCommands"]):
        for voice in voices:
            tools = apps[number % len(apps)]["tools"]
            yield Clip(name, voice, "clean", says, tools, None, {}, spoken(voice, says))


def _data(name: str) -> Any:
    return json.loads((HERE / "voice_data" / f"{name}.json").read_text("utf-8"))


def _others(voices: tuple[str, ...]) -> list[bytes]:
    """Who talks in the babble behind a synthetic voice: all voices, of other things."""
    said = _data("dev")["notCommands"]
    return [spoken(voices[number % len(voices)], text) for number, text in enumerate(said)]


def human(
    folder: Path, conditions: tuple[str, ...], every: int, only: str | None = None
) -> Iterator[Clip]:
    """Orders by people: `labels.json` {slot_values, orders: {file: slots}} and FLAC files.

    The clean ones again with eight other tools declared around the one that is meant.
    """
    orders = _labels(folder)["orders"]
    tool = order_tool(folder)
    around = [app["tools"][0] for app in _data("dev")["apps"]]
    nine = [*around[:4], tool, *around[4:8]]
    files = sorted(orders)
    noisy = len(conditions) > 1
    for file in files[::every]:
        if only not in {None, half(file)}:
            continue
        args = {slot: value.strip() for slot, value in orders[file].items()}
        others = [_recorded(folder / other) for other in files if noisy and other != file]
        group, pcm = f"human {half(file)}", _recorded(folder / file)
        clip = Clip(group, "people", _NINE, file, nine, "order_drink", args, pcm)
        yield clip
        for condition in conditions:
            noisy_pcm = mixed(pcm, condition, file, others)
            yield clip._replace(condition=condition, tools=[tool], pcm=noisy_pcm)


def order_tool(folder: Path) -> dict[str, Any]:
    """The one tool that the orders are for."""
    slots = _labels(folder)["slot_values"].items()
    properties = {slot: {"type": "string", "enum": values} for slot, values in slots}
    return {
        "name": "order_drink",
        "description": "Order a drink at the coffee bar",
        "parameters": {"type": "object", "properties": properties, "required": ["coffeeDrink"]},
    }


def _labels(folder: Path) -> Any:
    return json.loads((folder / "labels.json").read_text("utf-8"))


def half(file: str) -> str:
    """Which half a recording is in: rules are tuned on `dev` and reported on `test`."""
    return "test" if hashlib.sha1(file.encode(), usedforsecurity=False).digest()[-1] % 2 else "dev"


def other_sound(voices: tuple[str, ...], folder: Path | None) -> Iterator[Clip]:
    """What must move nothing: talk, commands for other apps, a telephone's prompts, mere noise.

    The tool that listens is the one of the orders by people, or a pizza is ordered.
    """
    pizza = next(app["tools"] for app in _data("dev")["apps"] if app["app"] == "pizza")
    tools = pizza if folder is None else [order_tool(folder)]
    talk = _data("dev")["notCommands"]
    elsewhere = [
        command["says"] for app in _data("held_out")["apps"] for command in app["commands"]
    ]
    for number, says in enumerate([*talk, *elsewhere[:_ELSEWHERE]]):
        voice = voices[number % len(voices)]
        yield Clip("other sound", voice, "clean", says, tools, None, {}, spoken(voice, says))
    for path in _by_digest(_PROMPTS.glob("*.wav"))[:_PROMPTS_MAX]:
        pcm = bytes(RATE_HZ) + _recorded(path) + bytes(RATE_HZ)
        yield Clip("other sound", "telephone", "clean", path.stem, tools, None, {}, pcm)
    others = [_recorded(path) for path in sorted(folder.glob("*.flac"))] if folder else []
    for number in range(_NOISES):
        condition = ("babble", "kitchen")[number % 2]
        pcm = alone(condition, f"noise {number}", others or _others(voices))
        yield Clip("other sound", condition, "clean", str(number), tools, None, {}, pcm)


def _by_digest(paths: Iterable[Path]) -> list[Path]:
    """In an order that has nothing to do with what they are about."""
    return sorted(paths, key=lambda path: hashlib.sha256(path.name.encode()).digest())


@cache
def _recorded(path: Path) -> bytes:
    command = ["sox", str(path), "-r", str(RATE_HZ), "-b", "16", "-c", "1", "-t", "raw", "-"]
    try:
        return subprocess.run(command, check=True, capture_output=True).stdout
    except FileNotFoundError:
        sys.exit("reading recordings needs sox: apt-get install sox")
