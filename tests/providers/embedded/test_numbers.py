import pytest

from relay.providers.embedded.numbers import doubtful_at, number_at


@pytest.mark.parametrize(
    ("text", "value", "length"),
    [
        ("three points", 3, 1),
        ("twenty five", 25, 2),
        ("twenty twenty", 20, 1),
        ("a hundred and five points", 105, 4),
        ("two hundred and thirty four", 234, 5),
        ("five and six", 5, 1),
        ("one thousand two hundred", 1200, 4),
        ("two million three thousand and one", 2_003_001, 6),
        ("hundred", 100, 1),
        ("nineteen eighty", 19, 1),
        ("three point one four", 3.14, 4),
        ("zero point five", 0.5, 3),
        ("two and a half minutes", 2.5, 4),
        ("two and half", 2.5, 3),
        ("one and a quarter", 1.25, 4),
        ("half a minute", 0.5, 2),
        ("a half", 0.5, 2),
        ("minus three", -3, 2),
        ("negative 2.5", -2.5, 2),
        ("a couple of points", 2, 3),
        ("a dozen", 12, 2),
        ("25", 25, 1),
        ("3 million", 3_000_000, 2),
        ("100 and 80 degrees", 180, 3),
        ("50 and 6", 50, 1),
    ],
)
def test_a_number_is_read_as_people_say_it(text: str, value: float, length: int) -> None:
    number = number_at(text.split(), 0)
    assert number is not None
    assert (number.value, number.end) == (value, length)


@pytest.mark.parametrize("text", ["points", "a point", "and", "12:30", "minus", "to"])
def test_what_is_no_number_is_none(text: str) -> None:
    assert number_at(text.split(), 0) is None


def test_articles_and_homophones_are_doubtful_numbers() -> None:
    article, homophone = doubtful_at(["a", "minute"], 0), doubtful_at(["for"], 0)
    assert article is not None
    assert (article.value, article.article) == (1, True)
    assert homophone is not None
    assert homophone.value == 4
    assert homophone.cost > article.cost
    assert doubtful_at(["minute"], 0) is None
