from typing import Any

from jsonschema import Draft202012Validator

from relay.protocol.refusals import RefusalCode
from relay.server.openapi import document
from relay.server.routes import API
from tests.server.conftest import Relay


async def test_the_relay_serves_its_own_description(relay: Relay) -> None:
    status, told = await relay.ask("GET", "/api/openapi.json")
    assert status == 200
    assert told == document(API)


async def test_every_api_route_is_described_and_no_other(relay: Relay) -> None:
    app = relay.client.app
    assert app is not None
    served = {
        (route.method.lower(), route.resource.canonical)
        for route in app.router.routes()
        if route.resource is not None and route.resource.canonical.startswith("/api/")
    }
    described = {
        (method, path) for path, verbs in document(API)["paths"].items() for method in verbs
    }
    assert served - {("get", "/api/openapi.json")} == described


def body_of(name: str) -> Draft202012Validator:
    told = document(API)
    return Draft202012Validator({"$ref": f"#/components/schemas/{name}", **told})


def test_a_body_that_the_description_admits_is_what_the_reader_takes() -> None:
    call = body_of("CallBody")
    assert call.is_valid({"name": "hash", "args": {"input": "abc"}})
    assert not call.is_valid({"args": {}})
    assert not call.is_valid({"name": "hash", "more": 1})


def test_every_refusal_code_is_in_the_description() -> None:
    told: dict[str, Any] = document(API)
    assert set(told["components"]["schemas"]["Refusal"]["properties"]["refused"]["enum"]) == {
        str(code) for code in RefusalCode
    }
