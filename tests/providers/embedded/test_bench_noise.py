"""The bench's noise: its level is the public benchmark's, and it is the same on every run."""

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

PATH = Path(__file__).parents[3] / "scripts" / "bench" / "voice_noise.py"


def bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("voice_noise", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


NOISE = bench()
RANDOM = np.random.default_rng(3)


def sound(level: float, seconds: float = 2) -> bytes:
    samples = RANDOM.normal(0, level, int(seconds * NOISE.RATE_HZ))
    return np.round(samples).astype("<i2").tobytes()


SPEECH, OTHERS = sound(1_000), [sound(300 + 100 * number) for number in range(8)]


def energy_db(pcm: bytes) -> float:
    return float(10 * np.log10(NOISE.loudest(np.frombuffer(pcm, dtype="<i2").astype(float))))


@pytest.mark.parametrize("condition", NOISE.NOISY)
def test_the_loudest_frames_are_as_far_apart_as_the_condition_says(condition: str) -> None:
    both = np.frombuffer(NOISE.mixed(SPEECH, condition, "a", OTHERS), dtype="<i2").astype(int)
    added = (both - np.frombuffer(SPEECH, dtype="<i2")).astype("<i2").tobytes()
    assert energy_db(SPEECH) - energy_db(added) == pytest.approx(int(condition.split()[1]), abs=0.1)


def test_a_seed_always_gives_the_same() -> None:
    one, again = (NOISE.mixed(SPEECH, "babble 12", "a", OTHERS) for _ in range(2))
    assert one == again
    assert one != NOISE.mixed(SPEECH, "babble 12", "b", OTHERS)
    assert NOISE.mixed(SPEECH, "clean", "a", OTHERS) == SPEECH
    assert NOISE.alone("kitchen", "a", OTHERS) == NOISE.alone("kitchen", "a", OTHERS)
