#!/usr/bin/env python3
"""Measure the embedded voice: how often it is right, and how soon.

    scripts/bench/voice.py                       both sets of synthetic commands, clean
    scripts/bench/voice.py --noise               and in noise
    scripts/bench/voice.py --data FOLDER         and orders by people (labels.json and FLAC files)
    scripts/bench/voice.py --sets held_out --voices 2 --json

Every clip goes through the real engine process, faster than real time, in a session of its own.
The verdicts are the same on every run; the times are not. Needs `flite` and `espeak-ng`.

Free text is right when it has the same words, or words that sound the same ("by" and "buy" can't
be told apart by ear); case and punctuation don't count. A text that is read back ("I heard: …")
is *asked*; the bench then says yes, and counts it as `afterYes` when that makes the right call.
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

from voice_corpus import CONDITIONS, RATE_HZ, VOICES, Clip, human, sounds, synthetic

from relay.providers import model as seam
from relay.providers.embedded import EmbeddedModel
from relay.providers.embedded.words import words_of
from relay.tools.tool import HostKind, Registered, ToolName, ToolSpec, ToolSucceeded

_QUIET = bytes(2 * RATE_HZ)
# The last word in each session: agrees to what was read back, and else means nothing
_AGREED = "yes"
_READ_BACK = "I heard:"
_CHUNK_BYTES = 640
_LATENCY_CLIPS = 12
_SESSIONS = count(1)
_NAMES = ("right", "wrong", "asked", "afterYes", "declined")


class _Host:
    kind: HostKind = "mini-app"


class Heard(Struct):
    """What a clip led to."""

    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    text: str = ""
    after_yes: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    called_at: float | None = None
    spoke_at: float | None = None
    last_turn: str | None = None
    read_back: bool = False

    def note_caption(self, said: seam.TranscriptDelta) -> None:
        """What was understood, or answered; the bench's own last word opens the last turn."""
        if said.role == "assistant":
            self.read_back = self.read_back or said.text.startswith(_READ_BACK)
        elif said.text == _AGREED:
            self.last_turn = said.turn_id
        else:
            self.text += said.text

    def note_call(self, call: seam.ToolCallRequested) -> None:
        """A call of the clip itself, or one that was agreed to."""
        self.called_at = self.called_at or monotonic()
        assert isinstance(call.args, dict)
        if self.last_turn is None:
            self.calls.append((call.name, call.args))
        elif self.read_back:
            self.after_yes.append((call.name, call.args))


def main() -> int:
    """Run what the flags ask for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="*", default=["dev", "held_out", "free_text"])
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
        await session.send_text(_AGREED)
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
    """Note everything until the turn of the last word is over."""
    async for event in session.events():
        match event:
            case seam.Ready():
                ready.set()
            case seam.TranscriptDelta():
                heard.note_caption(event)
            case seam.ToolCallRequested(call_id=call_id):
                heard.note_call(event)
                outcome = ToolSucceeded(result_json=b'{"ok":true}', duration_ms=0.0)
                await session.send_outcome(call_id, outcome)
            case seam.AudioOut():
                heard.spoke_at = heard.spoke_at or monotonic()
            case seam.TurnEnded(turn_id=turn_id) if turn_id == heard.last_turn:
                return
            case seam.TurnEnded(reason=reason):
                heard.reasons.append(reason)
            case _:
                pass


# ---- judging ----------------------------------------------------------------------------------


def _verdict(clip: Clip, heard: Heard) -> str:
    if clip.tool is None:
        return "acted on" if heard.calls else "left alone"
    if heard.calls:
        return "right" if _same(heard.calls, clip) else "wrong"
    if _same(heard.after_yes, clip):
        return "afterYes"
    return "asked" if "asked" in heard.reasons else "declined"


def _same(calls: list[tuple[str, dict[str, Any]]], clip: Clip) -> bool:
    """Whether the one wanted call was made."""
    if len(calls) != 1 or calls[0][0] != clip.tool or calls[0][1].keys() != clip.args.keys():
        return False
    return all(_alike(value, clip.args[name]) for name, value in calls[0][1].items())


def _alike(value: object, wanted: object) -> bool:
    """Free text compares as words, then as sounds."""
    if not isinstance(value, str) or not isinstance(wanted, str):
        return value == wanted
    said, meant = (" ".join(word.plain for word in words_of(one)) for one in (value, wanted))
    return said == meant or sounds(said) == sounds(meant)


def _row(clip: Clip) -> tuple[str, str, str]:
    if clip.tool is None:
        return clip.group, "no command", clip.voice
    kind = "with free text" if clip.has_text else "values"
    return clip.group, f"{kind}, {clip.condition}", clip.voice


def _print(counts: dict[tuple[str, str, str], Counter[str]], report: dict[str, Any]) -> None:
    print(
        "\n| set | commands | voice | n | right % | wrong % | asked % | right after a yes % |"
        " declined % |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    totals: dict[tuple[str, str, str], Counter[str]] = {}
    for (group, kind, voice), tally in counts.items():
        totals.setdefault((group, kind, voice), Counter()).update(tally)
        totals.setdefault((group, kind, "**all**"), Counter()).update(tally)
    for row, tally in sorted(totals.items()):
        if row[1] != "no command":
            whole = tally.total()
            asked = tally["asked"] + tally["afterYes"]
            shown = {**tally, "asked": asked}
            shares = " | ".join(f"{100 * shown.get(name, 0) / whole:.1f}" for name in _NAMES)
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
