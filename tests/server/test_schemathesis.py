"""The HTTP routes against their own description, by requests that are made from it.

What `test_fuzz` sends is wilder (bodies that are no JSON, other people's fields); here each request
fits the description, or breaks it in one place, and each answer has to be one that it declares.
"""

from collections.abc import Iterator

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import APIOperation, GenerationMode
from schemathesis import checks as known
from schemathesis.specs.openapi import checks

from relay.server.openapi import document
from relay.server.routes import API
from tests.cli.conftest import TOKEN, Running, serve, stop

# The seed is fixed: the same requests each time
BOUNDED = settings(
    max_examples=15,
    derandomize=True,
    deadline=None,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
HELD = [
    known.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.ignored_auth,
    checks.unsupported_method,
]


@pytest.fixture(scope="module")
def relay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("relay")
    running = serve(folder, [{"end": True}], VOICEBOX_REGISTRATIONS_PER_SECOND_MAX="4096")
    yield running
    stop(running.process)


BEARER = {"Authorization": f"Bearer {TOKEN}"}
SCHEMA = schemathesis.openapi.from_dict(document(API))
OPERATIONS = [operation.ok() for operation in SCHEMA.get_all_operations()]
FITTING = [(one, GenerationMode.POSITIVE) for one in OPERATIONS]
# One that takes nothing can't be given anything wrong
BREAKING = [(one, GenerationMode.NEGATIVE) for one in OPERATIONS if one.query or one.body]


@pytest.mark.parametrize(
    ("operation", "fit"),
    FITTING + BREAKING,
    ids=lambda part: part.value if isinstance(part, GenerationMode) else part.label,
)
def test_every_answer_is_one_that_is_declared(
    relay: Running, operation: APIOperation, fit: GenerationMode
) -> None:
    @BOUNDED
    @given(case=operation.as_strategy(generation_mode=fit))
    def answers_as_declared(case: schemathesis.Case) -> None:
        answer = case.call(base_url=relay.url, headers=BEARER)
        case.validate_response(answer, checks=HELD, headers=BEARER)
        assert "Traceback" not in answer.text
        assert TOKEN not in answer.text

    answers_as_declared()
