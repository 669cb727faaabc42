import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.miniapps.artifact import (
    clean_title,
    sandbox_id,
    slug_of,
    title_of,
    title_of_file,
)
from relay.miniapps.names import is_plain_part, is_reserved, leads_out


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Score Board.html", "score-board"),
        ("scoreboard.HTM", "scoreboard"),
        ("app_timer.html", "timer"),
        ("app-timer", "timer"),
        ("a__b  c.html", "a-b-c"),
        ("folder/inner.html", "inner"),
        ("sandbox:box:folder/inner.html", "inner"),
        ("Größe", "grösse"),
        ("計算機", "計算機"),
        ("किताब", "किताब"),
        ("con.html", "con-app"),
        ("", "mini-app"),
        ("   ", "mini-app"),
    ],
)
def test_a_slug_is_made_of_letters_and_digits_of_any_script(name: str, slug: str) -> None:
    assert slug_of(name) == slug


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("計算機", "時計"),
        ("कि", "कु"),
        ("🎲", "🎯"),
        ("!!!", "???"),
        ("x" * 300 + "1", "x" * 300 + "2"),
    ],
)
def test_titles_that_differ_have_slugs_that_differ(one: str, other: str) -> None:
    assert slug_of(one) != slug_of(other)


def test_the_same_title_spelled_in_two_unicode_forms_has_one_slug() -> None:
    assert slug_of("Caf\u00e9") == slug_of("Cafe\u0301") == "café"


@given(st.text(max_size=400))
def test_any_text_has_a_slug_that_every_system_can_hold(text: str) -> None:
    slug = slug_of(text)
    assert is_plain_part(slug)
    assert not is_reserved(slug)
    assert not leads_out(slug)
    assert len(slug.encode()) <= 96
    assert slug_of(slug) in (slug, slug.removeprefix("app-"))


def test_an_id_in_a_sandbox_says_where_the_file_lies_and_is_bounded() -> None:
    assert sandbox_id("box", "a/b.html") == "sandbox:box:a/b.html"
    long = {sandbox_id("box", "x" * 200 + end) for end in "12"}
    assert len(long) == 2
    assert all(len(each) <= 128 for each in long)


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<TITLE lang=en>A &amp; B</TITLE >", "A & B"),
        ("<title></title>", ""),
        ("<p>none</p>", ""),
        ("x" * 70_000 + "<title>late</title>", ""),
    ],
)
def test_a_document_says_its_title_in_its_head(html: str, title: str) -> None:
    assert title_of(html) == title


def test_a_file_without_a_title_is_called_by_its_name_in_words() -> None:
    assert title_of_file("app_score-board_two.html") == "Score Board Two"


def test_a_title_is_one_line_without_control_or_bidirectional_characters() -> None:
    assert clean_title("  a\n\tb\u2028c\u202ed\x07e  ", max_chars=120) == "a b cde"
    assert clean_title("👩\u200d🔬", max_chars=120) == "👩\u200d🔬"
    assert clean_title("x" * 500, max_chars=120) == "x" * 120
