"""Schemas and arguments by the thousand: mostly good ones, with every kind of fault mixed in.

All is written as JSON text, because that is where two languages may read different things.
"""

import json
from random import Random
from typing import Any

NAMES = ["a", "b", "team", "0", "10", "2", "constructor", "toString", "é", "a.b", " ", "x-y"]
ODD_NAMES = ["__proto__", "", "\ud800", "$ref", 'q"{}\\', "\u2028", "\u202e"]
TEXTS = ["", "a", "ab", "abc", "home", "away", "\U0001f600", "e\u0301", "x" * 70, "1", "true"]
ODD_TEXTS = ["\ud83d", "\udc00x", "\x00", "__proto__", "\n", "'\"{}"]
NUMBERS = ["0", "-0", "1", "2", "5", "5.0", "1e1", "2.5", "-3", "0.1", "10", "9007199254740993"]
ODD_NUMBERS = ["1e400", "-1e400", "1e300", "5e-324", "1e-400", "18446744073709551616", "1e16"]
FITTING: dict[str, list[Any]] = {"string": [*TEXTS], "boolean": [True, False]}
FOREIGN = ["pattern", "format", "default", "title", "const", "nullable", "$ref", "minItems"]


class Number(str):
    """A number as it is spelt."""

    __slots__ = ()


class Generator:
    """Draws from `random`; `odd` is how often, of 100 draws, something odd is drawn."""

    def __init__(self, random: Random, odd: int) -> None:
        self._random = random
        self._odd = odd

    def parameters(self) -> dict[str, Any]:
        """A parameter schema."""
        return self._object_schema(depth=0)

    def tool(self) -> dict[str, Any]:
        """A declaration."""
        key = "inputSchema" if self._is_odd() else "parameters"
        name: Any = self._one(["set_score", " t ", "x-1", "T" * 64])
        description: Any = "d" * self._one([1, 1, 5, 1024])
        if self._is_odd():
            name = self._one(["", "a b", "T" * 65, None, 5, "\ud800"])
        if self._is_odd():
            description = self._one(["", " ", "d" * 1025, None, "\U0001f600" * 513])
        return {"name": name, "description": description, key: self.parameters()}

    def arguments(self, schema: dict[str, Any]) -> Any:
        """Arguments that mostly fit the schema."""
        if self._is_odd():
            return self._anything(0)
        args = self._value(schema, 0)
        if self._is_odd() and isinstance(args, dict):
            args[self._one(NAMES)] = self._huge()
        return args

    def text(self, value: Any) -> str:
        """`value` as JSON text, now and then with a key written twice."""
        if isinstance(value, Number):
            return str(value)
        if isinstance(value, list):
            return "[" + ",".join(map(self.text, value)) + "]"
        if isinstance(value, dict):
            pairs = [json.dumps(key) + ":" + self.text(inner) for key, inner in value.items()]
            if pairs and self._is_odd():
                pairs.insert(0, json.dumps(self._one(list(value))) + ":1")
            return "{" + ",".join(pairs) + "}"
        return json.dumps(value)

    def _object_schema(self, depth: int) -> dict[str, Any]:
        names = self._some(NAMES, 4) + (self._some(ODD_NAMES, 1) if self._is_odd() else [])
        schema: dict[str, Any] = {"type": "object"}
        if names or self._chance(50):
            schema["properties"] = {name: self._schema(depth + 1) for name in names}
        if self._chance(60):
            required: list[Any] = self._some(names, 3)
            if self._is_odd():
                required.append(self._one([*NAMES, *ODD_NAMES, 5, None]))
            schema["required"] = required
        if self._chance(50):
            schema["additionalProperties"] = self._chance(40)
        return self._spoilt(schema)

    def _schema(self, depth: int) -> dict[str, Any]:
        kinds = ["string", "number", "integer", "boolean", "array"]
        kind = self._one(kinds + (["object"] * 2 if depth < 4 else []))
        if kind == "object":
            return self._object_schema(depth)
        schema: dict[str, Any] = {"type": kind}
        if kind == "array" and self._chance(70):
            inner = self._one(["string", "number", "integer", "boolean"])
            schema["items"] = {"type": inner} | self._enum(inner)
        elif kind in ("string", "number", "integer"):
            schema |= self._bounds(kind) | self._enum(kind)
        return self._spoilt(schema)

    def _bounds(self, kind: str) -> dict[str, Any]:
        low, high = ("minLength", "maxLength") if kind == "string" else ("minimum", "maximum")
        bounds: dict[str, Any] = {}
        if self._chance(30):
            bounds[low] = Number(self._one(["0", "1", "2", "1.0"]))
        if self._chance(30):
            bounds[high] = Number(self._one(["2", "3", "5", "1e1"]))
        if self._is_odd():
            bounds[low] = self._one([Number("2.5"), Number("-1"), Number("1e400"), None, "1"])
        return bounds

    def _enum(self, kind: str) -> dict[str, Any]:
        if not self._chance(30):
            return {}
        members = {
            "string": TEXTS,
            "boolean": [True, False],
            "integer": [Number(text) for text in ("0", "1", "2", "5.0", "1e1")],
            "number": [Number(text) for text in NUMBERS],
        }[kind]
        chosen = [self._one(members) for _ in range(self._one([1, 2, 3]))]
        return {"enum": [*chosen, *([self._leaf()] if self._is_odd() else [])]}

    def _spoilt(self, schema: dict[str, Any]) -> dict[str, Any]:
        if self._is_odd():
            schema[self._one(FOREIGN)] = self._leaf()
        if self._is_odd():
            schema[self._one(list(schema))] = self._leaf()
        if self._chance(10):
            schema["description"] = "d"
        return schema

    def _value(self, schema: Any, depth: int) -> Any:
        if self._is_odd() or not isinstance(schema, dict):
            return self._anything(depth)
        members = schema.get("enum")
        if isinstance(members, list) and members and self._chance(80):
            return self._one(members)
        kind = schema.get("type")
        if kind == "object":
            return self._record(schema, depth)
        if kind == "array":
            count = self._one([0, 1, 3])
            return [self._value(schema.get("items"), depth + 1) for _ in range(count)]
        return self._one(FITTING.get(str(kind)) or [Number(text) for text in NUMBERS])

    def _record(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        declared = schema.get("properties")
        properties = declared if isinstance(declared, dict) else {}
        required = schema.get("required")
        wanted = required if isinstance(required, list) else []
        names = [name for name in properties if name in wanted or self._chance(60)]
        if self._is_odd():
            names.append(self._one([*NAMES, *ODD_NAMES]))
        self._random.shuffle(names)
        return {name: self._value(properties.get(name), depth + 1) for name in names}

    def _anything(self, depth: int) -> Any:
        if depth < 3 and self._chance(30):
            return [self._anything(depth + 1) for _ in range(self._one([0, 1, 2]))]
        if depth < 3 and self._chance(40):
            names = self._some(NAMES, 2) + (self._some(ODD_NAMES, 1) if self._is_odd() else [])
            return {name: self._anything(depth + 1) for name in names}
        return self._leaf()

    def _huge(self) -> Any:
        """A value about at one of the bounds."""
        size = self._one([-1, 0, 1])
        if self._chance(50):
            return [None] * (2_044 + size)
        nested: Any = []
        for _ in range(30 + size):
            nested = [nested]
        return nested

    def _leaf(self) -> Any:
        if self._is_odd():
            return self._one([*ODD_TEXTS, *map(Number, ODD_NUMBERS)])
        return self._one([None, True, False, *TEXTS, *map(Number, NUMBERS)])

    def _some(self, choices: list[str], most: int) -> list[str]:
        count = self._random.randint(0, min(most, len(choices)))
        return self._random.sample(choices, count)

    def _one(self, choices: list[Any]) -> Any:
        return self._random.choice(choices)

    def _is_odd(self) -> bool:
        return self._chance(self._odd)

    def _chance(self, percent: int) -> bool:
        return self._random.randrange(100) < percent
