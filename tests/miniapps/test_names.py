import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.miniapps.names import check_file_name, folded, is_plain_part, leads_out
from relay.protocol.limits import Limits
from relay.protocol.refusals import Refusal, RefusalCode

CLIMBING = [
    "../escape.html",
    "..\\escape.html",
    "/etc/escape.html",
    "\\\\server\\share\\escape.html",
    "C:\\escape.html",
    "c:escape.html",
    "folder/escape.html",
    "./escape.html",
    "escape.html/",
    "..",
    ".",
    "%2e%2e%2fescape.html",
    "..%5cescape.html",
    "%252e%252e%252fescape.html",
    "%c0%ae%c0%ae%c0%afescape.html",
    "\uff0e\uff0e\uff0fescape.html",
    "file:///escape.html",
    "x\0.html",
]


@pytest.mark.parametrize("name", CLIMBING)
def test_a_climbing_or_absolute_name_is_outside_root(name: str) -> None:
    assert leads_out(name)
    assert code_of(name) is RefusalCode.OUTSIDE_ROOT


@pytest.mark.parametrize(
    "name", ["a.html", "Score Board.html", "計算機.html", "100%.html", "a%20b.html", "a..b.html"]
)
def test_a_plain_name_stays_as_it_is(name: str) -> None:
    assert check_file_name(name, limits=Limits()) == name


def test_an_ending_is_appended_where_it_is_missing() -> None:
    assert check_file_name("notes", limits=Limits()) == "notes.html"
    assert check_file_name("notes.HTM", limits=Limits()) == "notes.HTM"
    assert check_file_name("notes.txt", limits=Limits()) == "notes.txt.html"


@pytest.mark.parametrize("name", [".hidden.html", ".html", " .env"])
def test_a_hidden_name_is_refused(name: str) -> None:
    assert code_of(name) is RefusalCode.DOTFILE_REFUSED


DEVICES = ["CON", "con.html", "NUL.htm", "Com1.html", "lpt9.tar.html", "AUX .html", "COM¹.html"]
MARKS = ["a<b.html", 'a"b.html', "a|b", "a?b", "a*b", "a\nb.html", "a\u202eb.html"]
ENDS = ["dot..html", "space .html", "   ", "x" * 200 + ".html", "計" * 60 + ".html"]


@pytest.mark.parametrize("name", [*DEVICES, *MARKS, *ENDS])
def test_a_name_that_some_system_can_not_hold_is_refused(name: str) -> None:
    assert code_of(name) is RefusalCode.MINI_APP_NAME_INVALID


@given(st.text(max_size=40))
def test_any_text_is_refused_or_names_one_plain_file(name: str) -> None:
    try:
        plain = check_file_name(name, limits=Limits())
    except Refusal:
        return
    assert is_plain_part(plain)
    assert not leads_out(plain)
    assert check_file_name(plain, limits=Limits()) == plain


def test_names_are_compared_as_a_file_system_without_case_would() -> None:
    assert folded("Caf\u00e9.HTML") == folded("cafe\u0301.html")


def code_of(name: str) -> RefusalCode:
    with pytest.raises(Refusal) as caught:
        check_file_name(name, limits=Limits())
    return caught.value.code
