"""What the bench of the embedded voice says: commands, voices, noise. It judges nothing."""

import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).parent
RATE_HZ = 16_000
VOICES = ("flite slt", "flite rms", "flite awb", "espeak-ng en-us", "espeak-ng en-gb")
CONDITIONS = ("clean", "babble 18", "babble 12", "babble 6", "kitchen 12", "kitchen 6")
_BABBLE_TALKERS = 6
_BABBLE_HZ = 4_000
Samples = NDArray[np.float64]


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
    data = json.loads((HERE / "voice_data" / f"{name}.json").read_text("utf-8"))
    apps = data["apps"]
    for app in apps:
        for command in app["commands"]:
            for voice in voices:
                for condition in conditions:
                    pcm = mixed(spoken(voice, command["says"]), condition, command["says"])
                    yield Clip(
                        name, voice, condition, command["says"], app["tools"], command["tool"],
                        command["args"], pcm,
                    )  # fmt: skip
    for number, says in enumerate(data["notCommands"]):
        for voice in voices:
            tools = apps[number % len(apps)]["tools"]
            yield Clip(name, voice, "clean", says, tools, None, {}, spoken(voice, says))


def human(folder: Path, conditions: tuple[str, ...], every: int) -> Iterator[Clip]:
    """Orders by people: `labels.json` {slot_values, orders: {file: slots}} and FLAC files."""
    labels = json.loads((folder / "labels.json").read_text("utf-8"))
    properties = {
        slot: {"type": "string", "enum": values} for slot, values in labels["slot_values"].items()
    }
    parameters = {"type": "object", "properties": properties, "required": ["coffeeDrink"]}
    tools = [
        {
            "name": "order_drink",
            "description": "Order a drink at the coffee bar",
            "parameters": parameters,
        }
    ]
    for file, order in sorted(labels["orders"].items())[::every]:
        args = {slot: value.strip() for slot, value in order.items()}
        pcm = _flac(folder / file)
        for condition in conditions:
            noisy = mixed(pcm, condition, file)
            yield Clip("human", "people", condition, file, tools, "order_drink", args, noisy)


def _flac(path: Path) -> bytes:
    command = ["sox", str(path), "-r", str(RATE_HZ), "-b", "16", "-c", "1", "-t", "raw", "-"]
    try:
        return subprocess.run(command, check=True, capture_output=True).stdout
    except FileNotFoundError:
        sys.exit("reading FLAC needs sox: apt-get install sox")


# ---- noise ------------------------------------------------------------------------------------


def mixed(pcm: bytes, condition: str, seed: str) -> bytes:
    """The sound with noise at a signal-to-noise ratio in dB over its loud parts."""
    if condition == "clean":
        return pcm
    kind, level = condition.split()
    rng = np.random.default_rng(list(f"{seed} {condition}".encode()))
    speech = np.frombuffer(pcm, dtype="<i2").astype(np.float64)
    noise = _babble(rng, len(speech)) if kind == "babble" else _kitchen(rng, len(speech))
    loud = np.abs(speech) > 0.05 * np.abs(speech).max()
    wanted = np.sqrt((speech[loud] ** 2).mean() / 10 ** (float(level) / 10))
    both = speech + noise * (wanted / np.sqrt((noise**2).mean()))
    return bytes((both * min(1.0, 32_000 / np.abs(both).max())).astype("<i2").tobytes())


def _babble(rng: np.random.Generator, length: int) -> Samples:
    """Six talkers of other sentences, behind a low-pass."""
    said = json.loads((HERE / "voice_data" / "dev.json").read_text("utf-8"))["notCommands"]
    total = np.zeros(length)
    for number in range(_BABBLE_TALKERS):
        voice, text = VOICES[number % len(VOICES)], said[int(rng.integers(len(said)))]
        talker = np.frombuffer(spoken(voice, text), dtype="<i2").astype(np.float64)
        total += np.roll(np.resize(talker, length), int(rng.integers(length)))
    spectrum = np.fft.rfft(total)
    spectrum[np.fft.rfftfreq(length, 1 / RATE_HZ) > _BABBLE_HZ] = 0
    return np.fft.irfft(spectrum, length)


def _kitchen(rng: np.random.Generator, length: int) -> Samples:
    """Pink noise and the ringing of dishes."""
    spectrum = np.fft.rfft(rng.standard_normal(length))
    spectrum /= np.sqrt(np.maximum(np.fft.rfftfreq(length, 1 / RATE_HZ), 20))
    noise = np.fft.irfft(spectrum, length)
    noise /= noise.std()
    for _ in range(max(1, length // (RATE_HZ // 2))):
        start = int(rng.integers(length - 1))
        seconds = np.arange(min(RATE_HZ // 7, length - start)) / RATE_HZ
        ring = 6 * np.exp(-60 * seconds) * np.sin(2 * np.pi * rng.uniform(800, 4_000) * seconds)
        noise[start : start + len(seconds)] += ring
    return noise
