"""When to listen to an utterance once more, and what to do after it. Pure.

What a doubtful command is about is known after the first reading: the second one listens for the
words of that tool alone (`closer.py`). A clear command is never read twice.
"""

from collections.abc import Sequence

from relay.providers.embedded.closer import View, insists, settle, words_for
from relay.providers.embedded.decisions import Act, Ask, Decision
from relay.providers.embedded.filling import whole_values
from relay.providers.embedded.guess import Guess
from relay.providers.embedded.toolbox import Toolbox

# A command is clear when its reading costs no more, when the recogniser is as sure as this (mean
# log probability), and when this share of its guesses says the same
_COST_MAX, _SCORE_MIN, _SHARE_MIN = 0.5, -0.4, 0.8
# Below these the recogniser guesses at anything; above this cost nothing of a command is left
_SCORE_UNLIKELY, _SCORE_HOPELESS, _COST_HOPELESS = -0.7, -0.86, 4.0
_GUESSES_MAX = 3
# With fewer words to choose from a guess is likelier, unless it is wrong
_LESS_LIKELY_MAX = 0.1


class SecondEar:
    """The doubts of one session."""

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox
        self._words = {
            card.name: words_for(card, tool)
            for card, tool in zip(toolbox.cards, toolbox.tools, strict=True)
        }

    def words(self, guesses: Sequence[Guess], asked: Ask | None) -> frozenset[str] | None:
        """The words to listen for; None when all is clear, or when nothing can be gained."""
        if not guesses or guesses[0].score < _SCORE_HOPELESS or self.is_clear(guesses, asked):
            return None
        name = self._suspect(guesses, asked)
        return None if name is None else self._words[name]

    def is_clear(self, guesses: Sequence[Guess], asked: Ask | None) -> bool:
        """Whether they are one command beyond doubt."""
        act, share = self._explained(guesses, asked)
        return act is not None and share >= _SHARE_MIN

    def prefers(self, whole: Sequence[Guess], part: Sequence[Guess], asked: Ask | None) -> bool:
        """Whether to follow the whole of an utterance rather than a part of it that is in doubt.

        Every word of it belongs to one command, and the recogniser is at least as sure of it.
        """
        first = [guess for guess in whole if not guess.closer]
        act, _ = self._explained(first, asked)
        return act is not None and first[0].score >= part[0].score

    def decide(self, guesses: Sequence[Guess], asked: Ask | None) -> Decision:
        """What to do about guesses, of which some may be of the second reading."""
        first = [guess for guess in guesses if not guess.closer]
        again = [guess for guess in guesses if guess.closer]
        decision = self._toolbox.decide(first, asked)
        name = self._suspect(first, asked) if again else None
        unlikely = not isinstance(decision, Act) and first[0].score < _SCORE_UNLIKELY
        # Which number, or whether on or off, is not for a second reading of the same sound to say
        open_ = isinstance(decision, Ask) and decision.slot.kind != "enum"
        if name is None or open_:
            return decision
        likeliest, _ = self._toolbox.likeliest(again, asked)
        named = {one.name for one in (decision, likeliest) if isinstance(one, Act | Ask)}
        if len(named) > 1:
            return decision
        views = self._view(decision, first, name), self._view(likeliest, again, name)
        if unlikely:
            return likeliest if insists(*views) else decision
        as_likely = again[0].score >= first[0].score - _LESS_LIKELY_MAX
        alike = as_likely and self._toolbox.alike(first[0].text, likeliest.text)
        return settle(self._toolbox.tool(name).slots, *views, alike=alike)

    def _explained(self, guesses: Sequence[Guess], asked: Ask | None) -> tuple[Act | None, float]:
        """The one call of which hardly a word is left over, and its share of the guesses."""
        decision, share = self._toolbox.likeliest(guesses, asked)
        if not isinstance(decision, Act) or decision.then or guesses[0].score < _SCORE_MIN:
            return None, 0.0
        reading = self._toolbox.read(decision.text, decision.name)
        cheap = reading is not None and reading.cost <= _COST_MAX
        return (decision, share) if cheap else (None, 0.0)

    def _suspect(self, guesses: Sequence[Guess], asked: Ask | None) -> str | None:
        """The tool that is meant, if any is."""
        decision, _ = self._toolbox.likeliest(guesses, asked)
        if isinstance(decision, Act | Ask):
            return decision.name
        readings = [self._toolbox.read(guess.text) for guess in guesses[:_GUESSES_MAX]]
        likely = [one for one in readings if one is not None and one.cost <= _COST_HOPELESS]
        meant = [one for one in likely if one.filled or one.names_it]
        return min(meant, key=lambda one: one.score).tool.name if meant else None

    def _view(self, decision: Decision, guesses: Sequence[Guess], name: str) -> View:
        texts = [guess.text for guess in guesses]
        readings = {text: self._toolbox.read(text, name) for text in texts}
        decided = readings.get(decision.text if isinstance(decision, Act) else texts[0])
        values = [whole_values(one.values) for one in readings.values() if one is not None]
        names = {name for one in values for name in one}
        return View(
            decision=decision,
            cost=_COST_HOPELESS if decided is None else decided.cost,
            heard={name: [one.get(name) for one in values] for name in names},
        )
