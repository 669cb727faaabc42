"""When a reading may be acted on, and when it is worth a question. Pure.

The thresholds stand here.
"""

from collections.abc import Sequence
from itertools import pairwise

from relay.providers.embedded.parser import Reading
from relay.providers.embedded.words import Word

COST_A_SLOT_MAX = 0.5
_COST_MAX = 1.9
_ASK_COST_MAX = 0.6
_TIE = 0.04
_COST_CLEAR, _COST_PLAIN = 0.5, 0.6
_LINKS = frozenset({"and", "plus", "with"})
_HESITATIONS = frozenset({"er", "hm", "uh", "um"})
_WISHES = {
    (one, other)
    for one, others in {
        "i": "want have get need",
        "id": "like love",
        "would": "like love",
        "we": "want need have",
        "get": "me us",
        "give": "me us",
        "make": "me us",
        "bring": "me us",
    }.items()
    for other in others.split()
}


def sure(readings: Sequence[Reading], words: Sequence[Word]) -> bool:
    """Whether the best reading of these words may be acted on."""
    best = readings[0]
    tied = len(readings) > 1 and readings[1].score - best.score < _TIE and not readings[1].missing
    dear = best.cost > min(_COST_MAX, COST_A_SLOT_MAX * (1 + len(best.filled)))
    if best.missing or tied or dear:
        return False
    typed = sum(slot.kind != "text" for slot in best.filled)
    if typed == len(best.filled) and _breaks_off(words):
        return False
    if typed:
        wished = is_wish(words) and best.evidence >= 0.4
        clear = best.cost < _COST_CLEAR and (typed >= 2 or wished)
        named = best.names_it or best.evidence >= 1.2
        plain = typed >= 2 or named or best.cost <= _COST_PLAIN
        return clear or (plain and best.evidence >= 0.55)
    if best.filled:
        return best.evidence >= (0.6 if best.names_it else 1.2)
    return best.cost <= 0.6 and best.evidence >= (1.1 if best.names_it else 1.3)


def _breaks_off(words: Sequence[Word]) -> bool:
    """Whether something was to follow: "a medium roast espresso with, uh"."""
    said = [word.plain for word in words if word.plain not in _HESITATIONS]
    return bool(said) and said[-1] in _LINKS


def is_wish(words: Sequence[Word]) -> bool:
    """Whether it begins as a wish: "can I have", "get me", "I'd like"."""
    plain = [word.plain for word in words[:5]]
    return any(pair in _WISHES for pair in pairwise(plain))


def worth_asking(best: Reading) -> bool:
    """Whether only a value is missing."""
    if not best.missing or best.cost > _ASK_COST_MAX:
        return False
    if any(slot.kind != "text" for slot in best.filled):
        return best.evidence >= 0.7
    return best.evidence >= (0.9 if best.names_it else 1.2)
