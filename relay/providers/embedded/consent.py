"""Yes, no and never mind. Pure."""

from relay.providers.embedded.decisions import Ask
from relay.providers.embedded.english import listed
from relay.providers.embedded.words import words_of

_YES = listed("yes yeah yep sure okay ok confirm confirmed absolutely")
_NO = listed("no nope dont cancel never")
_WITH_YES = listed("please do it that delete i am go ahead of course thanks")
_FORGET_WORDS = listed("cancel nevermind never mind stop no forget nothing")


def yes_or_no(text: str) -> bool | None:
    """Whether a text is a plain yes or a plain no; None for anything else."""
    said = {word.plain for word in words_of(text)}
    if said & _YES and said <= _YES | _WITH_YES:
        return True
    return False if said & _NO and said <= _NO | _FORGET_WORDS | _WITH_YES else None


def gives_up(text: str, asked: Ask | None) -> bool:
    """Whether a text drops the question that was asked."""
    words = [word.plain for word in words_of(text)]
    return asked is not None and bool(words) and set(words) <= _FORGET_WORDS | {"it", "that", "do"}
