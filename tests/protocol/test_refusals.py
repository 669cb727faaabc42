import re

import pytest

from relay.protocol.refusals import EXPLAINED, Refusal, RefusalCode

CODES = [pytest.param(code, id=code) for code in RefusalCode]


def test_every_code_is_explained_and_nothing_else_is() -> None:
    assert list(EXPLAINED) == list(RefusalCode)


@pytest.mark.parametrize("code", CODES)
def test_a_code_is_kebab_case_and_its_name_follows(code: RefusalCode) -> None:
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", code)
    assert code.name == code.upper().replace("-", "_")


@pytest.mark.parametrize("code", CODES)
def test_cause_and_remedy_are_sentences_and_the_status_is_an_error(code: RefusalCode) -> None:
    told = EXPLAINED[code]
    for text in (told.cause, told.remedy):
        assert re.fullmatch(r"[A-Z].*\.", text)
    assert 400 <= told.status < 600


@pytest.mark.parametrize("code", CODES)
def test_a_refusal_has_one_body(code: RefusalCode) -> None:
    refusal = Refusal(code, "one sentence")
    assert refusal.body() == {"ok": False, "refused": str(code), "why": "one sentence"}
    assert type(refusal.body()["refused"]) is str
    assert str(refusal) == f"{code}: one sentence"
