#!/usr/bin/env python3
"""Make examples/audio/*.wav again, as examples/audio/commands.json describes them.

Needs the programs `flite` and `espeak-ng` (Debian packages of the same names).
"""

import json
import math
import shutil
import subprocess
import sys
import tempfile
import wave
from pathlib import Path

import numpy as np
import soxr
from numpy.typing import NDArray

RATE_HZ = 16_000
FOLDER = Path(__file__).parent.parent / "examples" / "audio"
_QUIET_S = 0.3
_NOT_SPOKEN_S = 3.0
_PEAK = 16_000
_CHORDS_HZ = ((262, 330, 392), (220, 262, 330), (175, 220, 262), (196, 247, 294))
Samples = NDArray[np.int16]


def main() -> int:
    """Make every file."""
    missing = [name for name in ("flite", "espeak-ng") if shutil.which(name) is None]
    if missing:
        print(f"not installed: {', '.join(missing)}", file=sys.stderr)
        return 1
    for command in json.loads((FOLDER / "commands.json").read_text("utf-8")):
        write(FOLDER / command["file"], sound(command["voice"], command["says"]))
        print(command["file"])
    return 0


def sound(voice: str, text: str) -> Samples:
    """The samples of one file at `RATE_HZ`."""
    if voice == "silence":
        return np.zeros(int(_NOT_SPOKEN_S * RATE_HZ), dtype=np.int16)
    if voice == "tones":
        return tones()
    quiet = np.zeros(int(_QUIET_S * RATE_HZ), dtype=np.int16)
    return np.concatenate([quiet, spoken(voice, text), quiet])


def spoken(voice: str, text: str) -> Samples:
    """A sentence in the voice of "program name"."""
    program, name = voice.split()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "said.wav"
        commands = {
            "flite": ["flite", "-voice", name, "-t", text, "-o", str(file)],
            "espeak-ng": ["espeak-ng", "-v", name, "-s", "155", "-w", str(file), text],
        }
        subprocess.run(commands[program], check=True)
        with wave.open(str(file)) as source:
            samples = np.frombuffer(source.readframes(source.getnframes()), dtype="<i2")
            rate_hz = source.getframerate()
    at_rate = soxr.resample(samples.astype(np.float32), rate_hz, RATE_HZ, quality="HQ")
    return np.round(at_rate * (_PEAK / max(np.abs(at_rate).max(), 1))).astype(np.int16)


def tones() -> Samples:
    """Four plucked chords, as in music."""
    length = int(_NOT_SPOKEN_S / len(_CHORDS_HZ) * RATE_HZ)
    seconds = np.arange(length) / RATE_HZ
    chords = [
        sum(np.sin(2 * math.pi * hz * part * seconds) / part for hz in chord for part in (1, 2, 3))
        * np.exp(-3 * seconds)
        for chord in _CHORDS_HZ
    ]
    music = np.concatenate(chords)
    return np.round(music * (_PEAK / np.abs(music).max())).astype(np.int16)


def write(path: Path, samples: Samples) -> None:
    """A 16-bit mono WAV."""
    with wave.open(str(path), "wb") as target:
        target.setnchannels(1)
        target.setsampwidth(2)
        target.setframerate(RATE_HZ)
        target.writeframes(samples.astype("<i2").tobytes())


if __name__ == "__main__":
    sys.exit(main())
