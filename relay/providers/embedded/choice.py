"""Which of several guesses at an utterance to follow, and how far they agree on it. Pure."""

import math
from collections.abc import Callable, Sequence

from msgspec import Struct

from relay.providers.embedded.decisions import Act, Ask, Decision, Decline
from relay.providers.embedded.guess import Guess
from relay.providers.embedded.numbers import LIKE_IN_SOUND

_SCORE_WEIGHT = 2.0
_AGREEMENT = 0.3
_SCORE_MIN = -0.75
# The recogniser scores by the piece of a word, and the end counts as one
_PIECES_A_WORD, _PIECES_MORE = 1.3, 1.0


class Judged(Struct, frozen=True):
    """A guess, what it would lead to, and what that costs."""

    guess: Guess
    decision: Decision
    cost: float


class _Found(Struct):
    cost: float
    decision: Decision
    share: float


def choose(
    judged: Sequence[Judged], key: Callable[[Decision], bytes]
) -> tuple[Decision, float] | None:
    """The best decision and its share of the probability; None when nothing is to be done.

    The share is 0..1 over the guesses: small when likely guesses would lead elsewhere.
    """
    best_score = judged[0].guess.score
    shares = _shares([one.guess for one in judged])
    found: dict[bytes, _Found] = {}
    for one, share in zip(judged, shares, strict=True):
        if isinstance(one.decision, Decline) or one.guess.score < _SCORE_MIN:
            continue
        cost = one.cost + _SCORE_WEIGHT * (best_score - one.guess.score)
        known = found.setdefault(key(one.decision), _Found(math.inf, one.decision, 0.0))
        again = known.share > 0
        if cost < known.cost:
            known.cost, known.decision = cost, one.decision
        known.cost -= _AGREEMENT / len(judged) * again
        known.share += share
    acting = [one for one in found.values() if _acts(one.decision)]
    if not found:
        return None
    best = min(acting or found.values(), key=lambda one: one.cost)
    return best.decision, best.share


def _acts(decision: Decision) -> bool:
    """Whether it is a whole command, be it that a value which could be missing was cut off."""
    return isinstance(decision, Act) or (isinstance(decision, Ask) and not decision.slot.required)


def rivals(judged: Sequence[Judged], act: Act) -> dict[str, float]:
    """By argument: which share of the guesses that make this call give it another value."""
    shares = _shares([one.guess for one in judged])
    alike = [
        (one.decision.args, share)
        for one, share in zip(judged, shares, strict=True)
        if isinstance(one.decision, Act) and one.decision.name == act.name
    ]
    whole = sum(share for _, share in alike)
    return {
        name: sum(share for args, share in alike if args.get(name, value) != value) / whole
        for name, value in act.args.items()
    }


def confusable(judged: Sequence[Judged], act: Act) -> frozenset[str]:
    """The arguments that are thirteen in one guess and thirty in another."""
    acts = [one.decision for one in judged if isinstance(one.decision, Act)]
    return frozenset(
        name
        for name, value in act.args.items()
        if isinstance(value, int | float)
        and any(other.args.get(name) == LIKE_IN_SOUND.get(value, ()) for other in acts)
    )


def _shares(guesses: Sequence[Guess]) -> list[float]:
    """The probability of each guess, as if there were no others."""
    pieces = _PIECES_A_WORD * len(guesses[0].text.split()) + _PIECES_MORE
    best = guesses[0].score
    weights = [math.exp(pieces * min(0.0, one.score - best)) for one in guesses]
    return [weight / sum(weights) for weight in weights]
