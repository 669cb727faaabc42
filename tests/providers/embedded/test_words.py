import pytest

from relay.providers.embedded.english import ALIKE, OPPOSITE, stem
from relay.providers.embedded.words import spoken, words_of


def plain(text: str) -> list[str]:
    return [word.plain for word in words_of(text)]


def test_a_text_becomes_plain_words() -> None:
    assert plain("Don't  set it to 30%, please!") == [
        "dont",
        "set",
        "it",
        "to",
        "30",
        "percent",
        "please",
    ]
    assert plain("1,000 and 2.5 at 12:30; $5 +3 -4") == (
        ["1000", "and", "2.5", "at", "12:30", "5", "dollars", "plus", "3", "minus", "4"]
    )
    assert plain("about $1,200.50 in $") == ["about", "1200.50", "dollars", "in", "dollars"]
    assert plain("") == plain("?!… —") == []


def test_the_end_of_a_sentence_is_kept() -> None:
    assert [word.ends for word in words_of("Stop. Go on")] == [True, False, False]


def test_identifiers_are_spoken_as_words() -> None:
    assert spoken("setScore_now-2") == ["set", "score", "now", "2"]
    assert spoken("living room") == ["living", "room"]


@pytest.mark.parametrize(
    "words",
    ["score scores scored scoring", "stop stops stopped stopping", "add adds added adding"],
)
def test_forms_of_a_word_share_a_stem(words: str) -> None:
    assert len({stem(word) for word in words.split()}) == 1


def test_words_know_their_like_and_their_contrary() -> None:
    assert stem("cancel") in ALIKE[stem("stop")]
    assert stem("stop") in OPPOSITE[stem("start")]
    assert stem("off") in OPPOSITE[stem("on")]
