#!/usr/bin/env python3
"""Measure the embedded voice: how often it is right, and how soon.

    scripts/bench/voice.py                       both sets of synthetic commands, clean
    scripts/bench/voice.py --noise               and in noise
    scripts/bench/voice.py --data FOLDER         and orders by people (labels.json and FLAC files)
    scripts/bench/voice.py --sets held_out --voices 2 --json

Every clip goes through the real engine process, faster than real time, in a session of its own.
The verdicts are the same on every run; the times are not. Needs `flite` and `espeak-ng`.
"""

import argparse
import asyncio
import json
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, count
from pathlib import Path
from statistics import median
from time import monotonic
from typing import Any

import numpy as np
from msgspec import Struct, field

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from voice_corpus import CONDITIONS, RATE_HZ, VOICES, Clip, human, synthetic

from relay.providers import model as seam
from relay.providers.embedded import EmbeddedModel
from relay.providers.embedded.words import words_of
from relay.tools.tool import HostKind, Registered, ToolName, ToolSpec, ToolSucceeded

_QUIET = bytes(2 * RATE_HZ)
_BARRIER = "xyzzy plugh"
_CHUNK_BYTES = 640
_LATENCY_CLIPS = 12
_SESSIONS = count(1)
_NAMES = ("right", "wrong", "asked", "declined")


class _Host:
    kind: HostKind = "mini-app"


class Heard(Struct):
    """What a clip led to."""

    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    text: str = ""
    called_at: float | None = None
    spoke_at: float | None = None


def main() -> int:
    """Run what the flags ask for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="*", default=["dev", "held_out"])
    parser.add_argument("--voices", type=int, default=len(VOICES), help="how many of the voices")
    parser.add_argument("--noise", action="store_true", help="the noisy conditions too")
    parser.add_argument("--data", type=Path, help="a folder with orders by people")
    parser.add_argument("--every", type=int, default=1, help="only every n-th order by people")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of tables")
    parser.add_argument("--show", action="store_true", help="print every clip that is not right")
    report = asyncio.run(_run(parser.parse_args()))
    if report.pop("asJson"):
        print(json.dumps(report))
    return 0


async def _run(args: argparse.Namespace) -> dict[str, Any]:
    model = EmbeddedModel()
    await model.start()
    counts: dict[tuple[str, str, str], Counter[str]] = {}
    seconds = 0.0
    try:
        await _heard_by(model, b"", [])  # waits until it has loaded
        before = _cpu_s(model)
        for clip in _clips(args):
            verdict = _verdict(clip, heard := await _heard_by(model, clip.pcm, clip.tools))
            counts.setdefault(_row(clip), Counter())[verdict] += 1
            seconds += len(clip.pcm) / 2 / RATE_HZ
            if args.show and verdict not in {"right", "left alone"}:
                print(f"{verdict} | {clip.voice}, {clip.condition} | {clip.says} → {heard.calls}"
                      f" ({heard.text})", flush=True)  # fmt: skip
        cpu = (_cpu_s(model) - before) / max(seconds, 1)
        latency = await _latency(model)
    finally:
        await model.stop()
    report = {
        "clips": sum(tally.total() for tally in counts.values()),
        "cpuPerSecondOfAudio": round(cpu, 3),
        "latencyMs": latency,
    }
    report["rows"] = [{"row": list(row), **tally} for row, tally in sorted(counts.items())]
    if not args.json:
        _print(counts, report)
    return {**report, "asJson": args.json}


def _clips(args: argparse.Namespace) -> Iterator[Clip]:
    conditions = CONDITIONS if args.noise else CONDITIONS[:1]
    voices = VOICES[: args.voices]
    sets: list[Iterable[Clip]] = [synthetic(name, voices, conditions) for name in args.sets]
    if args.data is not None:
        sets.append(human(args.data, conditions, args.every))
    return chain.from_iterable(sets)


# ---- one clip ---------------------------------------------------------------------------------


async def _heard_by(
    model: EmbeddedModel, pcm: bytes, tools: list[dict[str, Any]], *, live: bool = False
) -> Heard:
    """Stream a clip into a session of its own and note what comes of it."""
    specs = [
        ToolSpec(
            name=ToolName(tool["name"]),
            description=tool["description"],
            parameters=tool["parameters"],
        )
        for tool in tools
    ]
    registered = [
        Registered(exposed_name=spec.name, spec=spec, host=_Host())  # type: ignore[arg-type]
        for spec in specs
    ]
    config = seam.SessionConfig(
        session_id=f"bench_{next(_SESSIONS)}", instructions="", tools=registered
    )
    session = await model.open(config)
    heard, ready = Heard(), asyncio.Event()
    async with asyncio.TaskGroup() as group:
        listening = group.create_task(_listen(session, heard, ready))
        await ready.wait()
        await _stream(session, pcm + _QUIET, live=live)
        await session.send_text(_BARRIER)
        await listening
    await session.close()
    return heard


async def _stream(session: seam.LiveSession, pcm: bytes, *, live: bool) -> None:
    began = monotonic()
    for number, start in enumerate(range(0, len(pcm), _CHUNK_BYTES)):
        if live:
            due = began + (number + 1) * _CHUNK_BYTES / 2 / RATE_HZ
            await asyncio.sleep(max(0.0, due - monotonic()))
        await session.send_audio(pcm[start : start + _CHUNK_BYTES])


async def _listen(session: seam.LiveSession, heard: Heard, ready: asyncio.Event) -> None:
    async for event in session.events():
        match event:
            case seam.Ready():
                ready.set()
            case seam.TranscriptDelta(role="user", text=text):
                if text == _BARRIER:
                    return
                heard.text += text
            case seam.ToolCallRequested(call_id=call_id, name=name, args=args):
                heard.called_at = monotonic()
                heard.calls.append((name, args))
                outcome = ToolSucceeded(result_json=b'{"ok":true}', duration_ms=0.0)
                await session.send_outcome(call_id, outcome)
            case seam.AudioOut():
                heard.spoke_at = heard.spoke_at or monotonic()
            case seam.TurnEnded(reason=reason):
                heard.reasons.append(reason)
            case _:
                pass


# ---- judging ----------------------------------------------------------------------------------


def _verdict(clip: Clip, heard: Heard) -> str:
    if clip.tool is None:
        return "acted on" if heard.calls else "left alone"
    if len(heard.calls) == 1:
        name, args = heard.calls[0]
        return "right" if (name, _plain(args)) == (clip.tool, _plain(clip.args)) else "wrong"
    if heard.calls:
        return "wrong"
    return "asked" if "asked" in heard.reasons else "declined"


def _plain(args: dict[str, Any]) -> dict[str, Any]:
    """Free text compares as words: case and punctuation are the recogniser's guess."""
    return {
        name: " ".join(word.plain for word in words_of(value)) if isinstance(value, str) else value
        for name, value in args.items()
    }


def _row(clip: Clip) -> tuple[str, str, str]:
    if clip.tool is None:
        return clip.group, "no command", clip.voice
    kind = "with free text" if clip.has_text else "values"
    return clip.group, f"{kind}, {clip.condition}", clip.voice


def _print(counts: dict[tuple[str, str, str], Counter[str]], report: dict[str, Any]) -> None:
    print("\n| set | commands | voice | n | right % | wrong % | asked % | declined % |")
    print("|---|---|---|---|---|---|---|---|")
    totals: dict[tuple[str, str, str], Counter[str]] = {}
    for (group, kind, voice), tally in counts.items():
        totals.setdefault((group, kind, voice), Counter()).update(tally)
        totals.setdefault((group, kind, "**all**"), Counter()).update(tally)
    for row, tally in sorted(totals.items()):
        if row[1] != "no command":
            whole = tally.total()
            shares = " | ".join(f"{100 * tally[name] / whole:.1f}" for name in _NAMES)
            print(f"| {' | '.join(row)} | {whole} | {shares} |")
    for (group, kind, voice), tally in sorted(totals.items()):
        if kind == "no command" and voice == "**all**":
            print(f"\n{group}: {tally['acted on']} of {tally.total()} non-commands acted on")
    print(f"\nCPU seconds per second of audio: {report['cpuPerSecondOfAudio']}")
    print(f"ms after the end of speech (p50, p90): {report['latencyMs']}")


# ---- times ------------------------------------------------------------------------------------


def _cpu_s(model: EmbeddedModel) -> float:
    fields = Path(f"/proc/{model.engine.pid}/stat").read_text("ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def _latency(model: EmbeddedModel) -> dict[str, list[int]]:
    """From the last loud sample, streamed in real time, to the call and to the first sound."""
    calls: list[float] = []
    sounds: list[float] = []
    clips = (clip for clip in synthetic("dev", VOICES[:1], CONDITIONS[:1]) if clip.tool)
    for _, clip in zip(range(_LATENCY_CLIPS), clips, strict=False):
        samples = np.abs(np.frombuffer(clip.pcm, dtype="<i2").astype(np.int32))
        end_s = (int(np.flatnonzero(samples > 0.02 * samples.max())[-1]) + 1) / RATE_HZ
        started = monotonic()
        heard = await _heard_by(model, clip.pcm, clip.tools, live=True)
        if heard.called_at is not None and heard.spoke_at is not None:
            calls.append(1000 * (heard.called_at - started - end_s))
            sounds.append(1000 * (heard.spoke_at - started - end_s))
    return {"call": _p50_p90(calls), "firstSound": _p50_p90(sounds)}


def _p50_p90(values: list[float]) -> list[int]:
    ordered = sorted(values)
    return [round(median(ordered)), round(ordered[int(0.9 * (len(ordered) - 1))])] if values else []


if __name__ == "__main__":
    sys.exit(main())
