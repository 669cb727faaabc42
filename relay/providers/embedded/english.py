"""The little English that every tool shares: word classes, endings, what means the same. Pure."""

from functools import lru_cache


def listed(text: str) -> frozenset[str]:
    """The words of a list that is written as a sentence."""
    return frozenset(text.split())


_IRREGULAR = {"took": "take", "given": "give", "gave": "give", "made": "make", "went": "go"}


@lru_cache(maxsize=8_192)
def stem(word: str) -> str:
    """A word without its English ending; the same for scores, scored and scoring."""
    word = _IRREGULAR.get(word, word)
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word[: -len(ending)]
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
                word = word[:-1]
            break
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def stems(text: str) -> frozenset[str]:
    """The stems of such a list."""
    return frozenset(stem(word) for word in text.split())


FILLERS = listed(
    "a an the of to for at in with by my me i we us our your you want wants would like could can "
    "will please lets let go ahead and now just okay ok hey hi hello um uh er ah oh thanks thank "
    "get give make have need it its this that then some up id ill im so well right there also "
    "computer as be from into onto do shall may might dear kindly quickly again too if both them "
    "these those im were gonna wanna"
)
CARRIERS = listed(
    "turn switch set put change adjust bring take move brew pour prepare cook bake serve grab fetch"
)
QUESTIONS = listed(
    "what whats when who whos why where wheres how hows which is are was were did does do has"
    " had am isnt arent whose"
)
PARTICLES = listed("on off out up down over away back around")
NEGATIONS = listed("dont not never didnt doesnt cant wont shouldnt isnt")
# Groups of words that mean about the same when they are spoken to a tool
SYNONYMS = (
    "add give award increase raise plus append put insert include",
    "remove delete erase drop subtract deduct minus decrease discard reduce",
    "start begin launch set run count create commence",
    "stop end cancel halt finish abort terminate off",
    "launch open",
    "reset clear restart zero wipe",
    "turn switch flip",
    "light lights lamp lamps lighting bulb",
    "bright brightness dim brighten dimmer brighter darken level",
    "timer countdown alarm clock",
    "alarm wake",
    "show display list tell open view see what read",
    "play hear listen",
    "volume sound loudness louder quieter",
    "buy purchase order",
    "create make new add write note",
    "find search look lookup locate",
    "send message text email mail tell",
    "call phone dial ring",
    "temperature heat thermostat warm cool degrees heating",
    "book reserve schedule plan",
    "big large",
    "small little tiny",
    "task todo item reminder",
    "picture photo image",
    "movie film video",
    "song track music tune",
    "blinds shades curtains blind shade curtain",
    "lock secure",
    "lounge livingroom",
)
ANTONYMS = (
    ("add give award increase raise", "remove subtract deduct take delete decrease reduce"),
    ("start begin launch resume", "stop end cancel halt pause abort finish"),
    ("open", "close shut"),
    ("lock", "unlock"),
    ("mute", "unmute"),
    ("enable activate", "disable deactivate"),
    ("show", "hide"),
    ("on", "off"),
    ("raise", "lower"),
    ("connect", "disconnect"),
    ("arm", "disarm"),
)


def _grouped() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for line in SYNONYMS:
        group = stems(line)
        for word in group:
            found[word] = found.get(word, frozenset()) | group
    return found


def _opposed() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for sides in ANTONYMS:
        one, other = (stems(side) for side in sides)
        for mine, theirs in ((one, other), (other, one)):
            for word in mine:
                found[word] = found.get(word, frozenset()) | theirs
    return found


ALIKE = _grouped()
OPPOSITE = _opposed()
"""By stem: the stems that mean about the same, and those that mean the contrary."""
