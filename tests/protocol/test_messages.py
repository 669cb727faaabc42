import re
from typing import get_args

import pytest

from relay.protocol import messages

MESSAGES = [
    pytest.param(value, id=name)
    for name, value in vars(messages).items()
    if isinstance(value, type)
    and issubclass(value, messages.Message)
    and value.__name__ == name != "Message"
]


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_says_in_a_sentence_what_it_is_for(message: type[messages.Message]) -> None:
    assert re.match(r"[A-Z`]", message.__doc__ or "")


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_is_tagged_frozen_and_refuses_unknown_fields(
    message: type[messages.Message],
) -> None:
    config = message.__struct_config__
    assert config.tag_field == "type"
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", str(config.tag))
    assert config.frozen
    assert config.forbid_unknown_fields


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_belongs_to_a_socket(message: type[messages.Message]) -> None:
    said = {
        member
        for name, union in vars(messages).items()
        if name.endswith("Message")
        for member in get_args(union) or (union,)
    }
    assert message in said


def test_the_states_of_a_session_are_those_that_the_wire_admits() -> None:
    assert get_args(messages.SessionState) == messages.SESSION_STATES
    assert messages.SESSION_STATES[-1] == "closed"
