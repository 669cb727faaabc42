"""Judges what the clips of the voice bench led to, and counts it. Pure."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from voice_corpus import Clip, sounds
from voice_noise import NOISY
from voice_session import Heard

from relay.providers.embedded.words import words_of

_NAMES = ("right", "wrong", "asked", "afterYes", "declined")
_COLUMNS = ("right %", "wrong %", "asked %", "right after a yes %", "declined %")
_HEAD = f"| set | commands | voice | n | {' | '.join(_COLUMNS)} |"
_MEAN = "mean over the noises"


class Row(Struct, frozen=True, order=True):
    """What is counted together."""

    group: str
    kind: str
    voice: str


Counts = dict[Row, Counter[str]]


def verdict(clip: Clip, heard: Heard) -> str:
    """Of a command: right, wrong, asked, afterYes, declined; else: acted on, left alone."""
    if clip.tool is None:
        return "acted on" if heard.calls else "left alone"
    if heard.calls:
        return "right" if _same(heard.calls, clip) else "wrong"
    if _same(heard.after_yes, clip):
        return "afterYes"
    return "asked" if "asked" in heard.reasons else "declined"


def _same(calls: Sequence[tuple[str, dict[str, Any]]], clip: Clip) -> bool:
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


def row_of(clip: Clip) -> Row:
    """Where a clip counts."""
    if clip.tool is None:
        return Row(clip.group, "no command", clip.voice)
    kind = "with free text" if clip.has_text else "values"
    return Row(clip.group, f"{kind}, {clip.condition}", clip.voice)


def table(counts: Counts) -> list[str]:
    """Lines of Markdown: every row, the sum over the voices, the mean over the noises."""
    totals = _totals(counts)
    lines = [_HEAD, "|---|---|---|---|---|---|---|---|---|"]
    for row, tally in sorted(totals.items()):
        if row.kind != "no command":
            lines.append(_line(row, str(tally.total()), shares(tally)))
    for row, n, mean in means(totals):
        lines.append(_line(row, str(n), mean))
    for row, tally in sorted(totals.items()):
        if row.kind == "no command" and row.voice == "**all**":
            acted, whole = tally["acted on"], tally.total()
            lines += ["", f"{row.group}: {acted} of {whole} that are no command acted on"]
    return lines


def shares(tally: Counter[str]) -> dict[str, float]:
    """In percent; `asked` holds `afterYes`."""
    shown = {**tally, "asked": tally["asked"] + tally["afterYes"]}
    return {name: 100 * shown.get(name, 0) / tally.total() for name in _NAMES}


def means(counts: Counts) -> list[tuple[Row, int, dict[str, float]]]:
    """For all that was heard in every noise: the mean of the noises, each counting the same."""
    found = []
    for row in sorted({Row(row.group, row.kind.split(",")[0], row.voice) for row in counts}):
        rows = [Row(row.group, f"{row.kind}, {noise}", row.voice) for noise in NOISY]
        if all(one in counts for one in rows):
            parts = [shares(counts[one]) for one in rows]
            mean = {name: sum(part[name] for part in parts) / len(parts) for name in _NAMES}
            whole = sum(counts[one].total() for one in rows)
            found.append((Row(row.group, f"{row.kind}, {_MEAN}", row.voice), whole, mean))
    return found


def _totals(counts: Counts) -> Counts:
    totals: Counts = {}
    for row, tally in counts.items():
        totals.setdefault(row, Counter()).update(tally)
        totals.setdefault(Row(row.group, row.kind, "**all**"), Counter()).update(tally)
    return totals


def _line(row: Row, n: str, parts: dict[str, float]) -> str:
    told = " | ".join(f"{parts[name]:.1f}" for name in _NAMES)
    return f"| {row.group} | {row.kind} | {row.voice} | {n} | {told} |"
