"""Numbers as people say them. Pure."""

from collections.abc import Sequence

from msgspec import Struct

_IN_ORDER = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
)
_TENS_IN_ORDER = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL = {word: number for number, word in enumerate(_IN_ORDER.split())}
_TENS = {word: 10 * number for number, word in enumerate(_TENS_IN_ORDER.split(), start=2)}
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}
_BIG_SCALES = {"thousand": 1_000, "million": 1_000_000}
_FRACTIONS = {"half": 0.5, "quarter": 0.25, "quarters": 0.25, "third": 1 / 3}
_OTHER = {"oh": 0, "fourty": 40, "ninty": 90, "couple": 2, "dozen": 12, "nil": 0, "single": 1}
_OTHER |= {"double": 2, "triple": 3, "both": 2}
# What a recogniser writes when it heard a number
_HOMOPHONES = {"to": 2, "too": 2, "for": 4, "fore": 4, "won": 1, "ate": 8, "free": 3, "tree": 3}
_HOMOPHONES |= {"fife": 5, "heaven": 7, "tin": 10, "tan": 10, "nein": 9, "sex": 6, "sicks": 6}
LIKE_IN_SOUND = {10.0 * n: 10.0 + n for n in range(3, 10)}
"""Thirty for thirteen and so on, both ways: only bounds, or the person, can tell them apart."""
LIKE_IN_SOUND |= {teen: tens for tens, teen in LIKE_IN_SOUND.items()}
_COST_HOMOPHONE, _COST_ARTICLE = 0.45, 0.1


class Number(Struct, frozen=True):
    """A number in words `start:end`; `cost` is how doubtful it is, 0 for none."""

    start: int
    end: int
    value: float
    cost: float = 0.0
    article: bool = False
    """It was only "a" or "an"."""


def number_at(words: Sequence[str], start: int) -> Number | None:
    """The longest number that begins at a word."""
    at = start
    negative = words[at] in {"minus", "negative"} and at + 1 < len(words)
    at += negative
    read = _digits(words, at) or _cardinal(words, at) or _fraction(words, at)
    if read is None:
        return None
    value, end = read
    value, end = _with_rest(words, value, end)
    return Number(start, end, -value if negative else value)


def is_number_word(word: str) -> bool:
    """Whether a word is (part of) a number wherever it stands."""
    return word[:1].isdigit() or word in _SMALL or word in _TENS or word in _SCALES


def doubtful_at(words: Sequence[str], start: int) -> Number | None:
    """A word that may stand for a number: an article, or a homophone."""
    word = words[start]
    if word in {"a", "an"}:
        return Number(start, start + 1, 1, _COST_ARTICLE, article=True)
    if word in _HOMOPHONES:
        return Number(start, start + 1, _HOMOPHONES[word], _COST_HOMOPHONE)
    return None


def _digits(words: Sequence[str], at: int) -> tuple[float, int] | None:
    word = words[at]
    if not word[:1].isdigit():
        return None
    try:
        value = float(word.replace(",", "."))
    except ValueError:
        return None  # a time of day, or a list of digits
    end = at + 1
    while end < len(words) and words[end] in _SCALES:
        value *= _SCALES[words[end]]
        end += 1
    rest = _word(words, end + 1)
    goes_on = word.isdigit() and word.endswith("00") and _word(words, end) == "and"
    if goes_on and rest.isdigit() and 0 < int(rest) < 100:
        return value + int(rest), end + 2  # "100 and 80" is how the recogniser writes 180
    return value, end


def _cardinal(words: Sequence[str], at: int) -> tuple[float, int] | None:
    """Groups before their scales: two million, three thousand, one hundred and five."""
    total, limit, end = 0.0, float("inf"), at
    while True:
        begin = _skip_and(words, end, total)
        group = _below_thousand(words, begin)
        if group is None:
            return (total, end) if end > at else _other(words, at)
        value, after = group
        scale = _BIG_SCALES.get(_word(words, after), 1)
        if scale >= limit:
            return (total, end) if end > at else (value, after)
        total, end, limit = total + value * scale, after + (scale > 1), scale
        if scale == 1:
            return total, end


def _below_thousand(words: Sequence[str], at: int) -> tuple[float, int] | None:
    word = _word(words, at)
    if word in {"a", "an"} and _word(words, at + 1) in _SCALES:
        read: tuple[int, int] | None = (1, at + 1)
    elif word in _SCALES:
        read = (1, at)
    else:
        read = _below_hundred(words, at)
    if read is None or _word(words, read[1]) != "hundred":
        return read
    hundreds, end = read[0] * 100, read[1] + 1
    rest = _below_hundred(words, _skip_and(words, end, hundreds))
    return (hundreds, end) if rest is None else (hundreds + rest[0], rest[1])


def _below_hundred(words: Sequence[str], at: int) -> tuple[int, int] | None:
    word, after = _word(words, at), _word(words, at + 1)
    if word in _TENS:
        small = _SMALL.get(after, 0)
        return (_TENS[word] + small, at + 2) if 0 < small < 10 else (_TENS[word], at + 1)
    return (_SMALL[word], at + 1) if word in _SMALL else None


def _skip_and(words: Sequence[str], at: int, so_far: float) -> int:
    """Go over "and" after hundreds: a hundred and five is one number, five and six are two."""
    return at + (so_far >= 100 and _word(words, at) == "and")


def _word(words: Sequence[str], at: int) -> str:
    return words[at] if at < len(words) else ""


def _other(words: Sequence[str], at: int) -> tuple[float, int] | None:
    if words[at] in {"a", "an"} and _word(words, at + 1) in _OTHER:
        at += 1
    if words[at] not in _OTHER:
        return None
    end = at + 1
    if words[at] == "couple" and _word(words, end) == "of":
        end += 1
    return float(_OTHER[words[at]]), end


def _fraction(words: Sequence[str], at: int) -> tuple[float, int] | None:
    end = at
    if words[end] in {"a", "one"} and end + 1 < len(words):
        end += 1
    if words[end] not in _FRACTIONS:
        return None
    value = _FRACTIONS[words[end]]
    end += 1
    if end < len(words) and words[end] in {"a", "an", "of"}:
        end += 1
    if end < len(words) and words[end] in {"a", "an"}:
        end += 1
    return value, end


def _with_rest(words: Sequence[str], value: float, end: int) -> tuple[float, int]:
    """Take in "point five" and "and a half"."""
    if end + 1 < len(words) and words[end] == "point" and words[end + 1] in DIGIT_WORDS:
        decimals, end = "", end + 1
        while end < len(words) and words[end] in DIGIT_WORDS:
            decimals += DIGIT_WORDS[words[end]]
            end += 1
        return float(f"{int(value)}.{decimals}"), end
    rest = list(words[end : end + 3])
    if rest[:2] == ["and", "half"] or rest == ["and", "a", "half"]:
        return value + 0.5, end + (2 if rest[1] == "half" else 3)
    if rest == ["and", "a", "quarter"]:
        return value + 0.25, end + 3
    return value, end


DIGIT_WORDS = {word: str(number) for word, number in _SMALL.items() if number < 10}
DIGIT_WORDS |= {str(digit): str(digit) for digit in range(10)} | {"oh": "0"}
NUMBER_WORDS = frozenset({*_SMALL, *_TENS, *_SCALES, *_FRACTIONS, *_OTHER, "minus", "point"})
NUMBER_WORDS |= {str(number) for number in range(101)}
