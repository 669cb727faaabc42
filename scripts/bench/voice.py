#!/usr/bin/env python3
"""Measure the embedded voice: how often it is right, and how soon.

    scripts/bench/voice.py                       the sets of synthetic commands, clean
    scripts/bench/voice.py --noise               and in noise
    scripts/bench/voice.py --data FOLDER         and orders by people (labels.json and FLAC files)
    scripts/bench/voice.py --sets --data FOLDER --noise --every 4     only those, a quarter of them
    scripts/bench/voice.py --sets held_out --voices 2 --json

Every clip goes through the real engine process, faster than real time, in a session of its own.
The verdicts are the same on every run; the times are not. Needs `flite` and `espeak-ng`; `--data`
needs `sox`, which also reads the prompts of a telephone if `asterisk-core-sounds-en-wav` is there.

Free text is right when it has the same words, or words that sound the same ("by" and "buy" can't
be told apart by ear); case and punctuation don't count. A text that is read back ("I heard: …")
is *asked*; the bench then says yes, and counts it as `afterYes` when that makes the right call.
"""

import argparse
import asyncio
import json
import logging
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

import structlog

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from voice_corpus import CONDITIONS, VOICES, Clip, human, other_sound, synthetic
from voice_noise import RATE_HZ
from voice_report import Counts, means, row_of, table, verdict
from voice_session import after_speech_ms, cpu_s, heard_by, p50_p90

from relay.providers.embedded import EmbeddedModel

_LATENCY_CLIPS = 12
# Sessions at a time: one is mixed and streamed while another is understood
_AT_ONCE = 3


def main() -> int:
    """Run what the flags ask for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="*", default=["dev", "held_out", "free_text"])
    parser.add_argument("--voices", type=int, default=len(VOICES), help="how many of the voices")
    parser.add_argument("--noise", action="store_true", help="the noisy conditions too")
    parser.add_argument("--data", type=Path, help="a folder with orders by people")
    parser.add_argument("--every", type=int, default=1, help="only every n-th order by people")
    parser.add_argument("--half", choices=["dev", "test"], help="only this half of the orders")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of tables")
    parser.add_argument("--show", action="store_true", help="print every clip that is not right")
    args = parser.parse_args()
    # What is printed is the report alone
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    counts, report = asyncio.run(_run(args))
    if args.json:
        rows = [{"row": [row.group, row.kind, row.voice], **counts[row]} for row in sorted(counts)]
        noises = [
            {"row": [row.group, row.kind, row.voice], "n": n, "percent": mean}
            for row, n, mean in means(counts)
        ]
        print(json.dumps({**report, "rows": rows, "means": noises}))
    else:
        figures = [f"{name}: {told}" for name, told in report.items()]
        print("", *table(counts), "", *figures, sep="\n")
    return 0


async def _run(args: argparse.Namespace) -> tuple[Counts, dict[str, Any]]:
    model = EmbeddedModel()
    await model.start()
    counts: Counts = {}
    seconds = 0.0
    clips = _clips(args)
    try:
        await heard_by(model, b"", [])  # waits until it has loaded
        before = cpu_s(model)
        while batch := list(islice(clips, _AT_ONCE)):
            for clip, found in await _judged(model, batch, show=args.show):
                counts.setdefault(row_of(clip), Counter())[found] += 1
                seconds += len(clip.pcm) / 2 / RATE_HZ
        cpu = (cpu_s(model) - before) / max(seconds, 1)
        latency = await _latency(model)
    finally:
        await model.stop()
    return counts, {
        "clips": sum(tally.total() for tally in counts.values()),
        "cpuPerSecondOfAudio": round(cpu, 3),
        "latencyMs": latency,
    }


async def _judged(model: EmbeddedModel, clips: list[Clip], *, show: bool) -> list[tuple[Clip, str]]:
    """Clips, each in a session of its own, all at the same time."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(heard_by(model, clip.pcm, clip.tools)) for clip in clips]
    found = []
    for clip, task in zip(clips, tasks, strict=True):
        heard = task.result()
        found.append((clip, verdict(clip, heard)))
        if show and found[-1][1] not in {"right", "left alone"}:
            print(f"{found[-1][1]} | {clip.voice}, {clip.condition} | {clip.says} → {heard.calls}"
                  f" ({heard.text})", flush=True)  # fmt: skip
    return found


def _clips(args: argparse.Namespace) -> Iterator[Clip]:
    conditions = CONDITIONS if args.noise else CONDITIONS[:1]
    voices = VOICES[: args.voices]
    sets: list[Iterable[Clip]] = [synthetic(name, voices, conditions) for name in args.sets]
    if args.data is not None:
        sets.append(human(args.data, conditions, args.every, args.half))
    sets.append(other_sound(voices, args.data))
    return chain.from_iterable(sets)


async def _latency(model: EmbeddedModel) -> dict[str, list[int]]:
    """Milliseconds from the end of speech, p50 and p90."""
    clips = (clip for clip in synthetic("dev", VOICES[:1], CONDITIONS[:1]) if clip.tool)
    times = [
        found
        for clip in islice(clips, _LATENCY_CLIPS)
        if (found := await after_speech_ms(model, clip.pcm, clip.tools)) is not None
    ]
    return {
        "call": p50_p90([call for call, _ in times]),
        "firstSound": p50_p90([sound for _, sound in times]),
    }


if __name__ == "__main__":
    sys.exit(main())
