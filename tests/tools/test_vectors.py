"""The referee: every vector of the folder that TOOL_VECTORS names (default tests/vectors)."""

from collections.abc import Callable
from typing import Any

import pytest

from relay.protocol.limits import LIMITS
from relay.protocol.refusals import Refusal, RefusalCode
from relay.tools.arguments import check_arguments, parse_arguments
from relay.tools.registry import ToolRegistry
from relay.tools.schema import admit_tool
from relay.tools.tool import AppId, Registered, ToolHost
from tests.fakes.hosts import FakeHost
from tests.fakes.vectors import read_vectors, same

Vector = dict[str, Any]


def named(vectors: list[Vector]) -> list[Any]:
    return [pytest.param(vector, id=vector["id"]) for vector in vectors]


def answer(check: Callable[[], object]) -> dict[str, Any]:
    try:
        return {"ok": True, "value": check()}
    except Refusal as refusal:
        return {"ok": False, "refused": str(refusal.code)}


def agrees(told: dict[str, Any], expected: dict[str, Any]) -> bool:
    allowed = expected.get("refused")
    if isinstance(allowed, list) and told.get("refused") in allowed:
        return True
    return same(told, expected)


@pytest.mark.parametrize("vector", named(read_vectors("declarations")))
def test_declaration_vectors(vector: Vector) -> None:
    def check() -> object:
        spec = admit_tool(vector["tool"])
        return {
            "name": spec.name,
            "description": spec.description,
            "parameters": dict(spec.parameters),
        }

    told = answer(check)
    assert agrees(told, vector["expect"]), (vector["note"], told, vector["expect"])


@pytest.mark.parametrize("vector", named(read_vectors("arguments")))
def test_argument_vectors(vector: Vector) -> None:
    declared = {"name": "t", "description": "t", "parameters": vector["parameters"]}
    spec = admit_tool(declared)
    told = answer(lambda: check_arguments(spec, parse_arguments(vector["args_json"])))
    assert agrees(told, vector["expect"]), (vector["note"], told, vector["expect"])


class Rooms:
    """A registry that is asked in the words of the vectors; each app has a place of its own."""

    def __init__(self) -> None:
        self.registry = ToolRegistry(limits=LIMITS)
        self.hosts: dict[str, ToolHost] = {}
        self.last_exposed: dict[tuple[str, str], str] = {}

    async def do(self, op: dict[str, Any]) -> dict[str, Any]:
        try:
            done: dict[str, Any] = await getattr(self, op["op"])(**op)
        except Refusal as refusal:
            return {"ok": False, "refused": str(refusal.code)}
        return {"ok": True, **done}

    def of(self, app: str) -> list[Registered]:
        return [tool for tool in self.registry.tools() if tool.app_id == app]

    async def register(self, *, app: str, tool: object, **_: str) -> dict[str, Any]:
        host = self.hosts.setdefault(app, FakeHost())
        registered = await self.registry.register(host, AppId(app), tool)
        return {"name": registered.spec.name}

    async def unregister(self, *, app: str, name: str, **_: str) -> dict[str, Any]:
        """An app takes a tool back: its set comes again without it."""
        self.tool(app, name)
        left = [
            {
                "name": tool.spec.name,
                "description": tool.spec.description,
                "parameters": tool.spec.parameters,
            }
            for tool in self.of(app)
            if tool.spec.name != name
        ]
        admission = await self.registry.replace(self.hosts[app], AppId(app), left)
        assert not admission.rejected
        return {"name": name}

    async def close(self, *, app: str, **_: str) -> dict[str, Any]:
        self.registry.withdraw(self.hosts[app], AppId(app))
        return {}

    async def list(self, *, app: str, **_: str) -> dict[str, Any]:
        return {"names": [tool.spec.name for tool in self.of(app)]}

    async def exposed(self, **_: str) -> dict[str, Any]:
        tools = self.registry.tools()
        told = [(str(tool.app_id), str(tool.spec.name)) for tool in tools]
        exposed = [tool.exposed_name for tool in tools]
        self.last_exposed |= dict(zip(told, exposed, strict=True))
        return {
            "tools": [{"app": app, "name": name} for app, name in told],
            "unique": len(set(exposed)) == len(exposed),
            "well_formed": all(is_well_formed(name) for name in exposed),
        }

    async def call(self, *, app: str, name: str, args_json: str, **_: str) -> dict[str, Any]:
        return run(self.tool(app, name), args_json)

    async def call_exposed(
        self, *, app: str, name: str, args_json: str, **_: str
    ) -> dict[str, Any]:
        try:
            tool = self.registry.find(self.last_exposed[app, name])
        except Refusal as refusal:
            # The vectors know no memory of tools that were there a moment ago
            withdrawn = refusal.code is RefusalCode.TOOL_WITHDRAWN
            code = RefusalCode.UNKNOWN_TOOL if withdrawn else refusal.code
            raise Refusal(code, refusal.why) from None
        return run(tool, args_json)

    def tool(self, app: str, name: str) -> Registered:
        for tool in self.of(app):
            if tool.spec.name == name:
                return tool
        raise Refusal(RefusalCode.UNKNOWN_TOOL, "no such tool of that app")


def run(tool: Registered, args_json: str) -> dict[str, Any]:
    try:
        args = parse_arguments(args_json)
    except Refusal as refusal:
        # In these vectors the transport has read the text, and says so in its own word
        raise Refusal(RefusalCode.BAD_JSON, refusal.why) from None
    value = check_arguments(tool.spec, args)
    return {
        "app": tool.app_id,
        "name": tool.spec.name,
        "description": tool.spec.description,
        "value": value,
    }


def is_well_formed(name: str) -> bool:
    """What both providers take."""
    first, rest = name[0], name[1:]
    letters = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
    return len(name) <= 64 and first in letters and set(rest) <= letters | set("0123456789-")


@pytest.mark.parametrize("vector", named(read_vectors("registry")))
async def test_registry_vectors(vector: Vector) -> None:
    rooms = Rooms()
    told = [await rooms.do(op) for op in vector["ops"]]
    for op, one, expected in zip(vector["ops"], told, vector["expect"], strict=True):
        assert agrees(one, expected), (vector["note"], op, one, expected)
