"""Hypothesis strategies: admitted parameter schemas, and arguments that are near to fitting."""

from typing import Any

from hypothesis import strategies as st

NAMES = st.sampled_from(["a", "b", "c", "constructor", "items", "x y", "1", "-"])
TEXTS = st.text(alphabet="ab ", max_size=4)
WIDE_TEXTS = st.text(alphabet="a\U0001f600", max_size=4)
WHOLE = st.integers(-3, 3)
NUMBERS = WHOLE | st.sampled_from([0.5, 2.5, 1e300, -0.0, 3.0])
PLAIN = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS | WIDE_TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
_MEMBERS = {"string": TEXTS, "number": NUMBERS, "integer": WHOLE, "boolean": st.booleans()}


@st.composite
def bounded(draw: st.DrawFn, kind: str, low: str, high: str, least: int) -> dict[str, Any]:
    """A string or number schema; a lower bound is never over the upper one."""
    bounds = sorted(draw(st.lists(st.integers(least, 3), min_size=2, max_size=2)))
    kept = draw(st.sets(st.sampled_from([low, high])))
    return {"type": kind, **{k: v for k, v in zip((low, high), bounds, strict=True) if k in kept}}


def with_enum(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    """A schema with members and no bounds."""
    members = st.lists(_MEMBERS[kind], min_size=1, max_size=3)
    return st.fixed_dictionaries({"type": st.just(kind), "enum": members})


SCALARS = st.one_of(
    bounded("string", "minLength", "maxLength", 0),
    bounded("number", "minimum", "maximum", -3),
    bounded("integer", "minimum", "maximum", -3),
    st.just({"type": "boolean"}),
    with_enum("string"),
    with_enum("number"),
    with_enum("integer"),
)
ITEMS = st.one_of(
    st.sampled_from(list(_MEMBERS)).map(lambda kind: {"type": kind}),
    st.sampled_from(list(_MEMBERS)).flatmap(with_enum),
)
ARRAYS = st.just({"type": "array"}) | ITEMS.map(lambda items: {"type": "array", "items": items})


@st.composite
def objects(draw: st.DrawFn, inner: st.SearchStrategy[dict[str, Any]]) -> dict[str, Any]:
    """An object schema; what it requires is declared where nothing else is allowed."""
    properties = draw(st.dictionaries(NAMES, inner, max_size=3))
    closed = draw(st.booleans())
    required = draw(st.lists(NAMES, max_size=3))
    if closed:
        required = [name for name in required if name in properties]
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if draw(st.booleans()):
        schema["required"] = required
    if closed:
        schema["additionalProperties"] = False
    return schema


LEAVES = SCALARS | ARRAYS
SCHEMAS = objects(LEAVES | objects(LEAVES | objects(LEAVES)))


@st.composite
def near(draw: st.DrawFn, schema: dict[str, Any]) -> Any:
    """A value that mostly fits the schema."""
    if draw(st.integers(0, 9)) == 0:
        return draw(PLAIN)
    kind = schema["type"]
    if "enum" in schema and draw(st.integers(0, 3)):
        return draw(st.sampled_from(schema["enum"]))
    if kind == "array":
        items = schema.get("items")
        return draw(st.lists(near(items) if items else PLAIN, max_size=3))
    if kind != "object":
        return draw(_MEMBERS[kind] if kind != "string" else TEXTS | WIDE_TEXTS)
    declared = sorted(schema["properties"])
    names = draw(st.sets(st.sampled_from(declared))) if declared else set()
    if draw(st.booleans()):
        names |= set(schema.get("required", ()))
    if draw(st.integers(0, 4)) == 0:
        names |= draw(st.sets(NAMES, max_size=1))
    return {name: draw(near(schema["properties"].get(name, {"type": "array"}))) for name in names}


@st.composite
def calls(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """A schema and an object of arguments for it."""
    schema = draw(SCHEMAS)
    args = draw(near(schema))
    return schema, args if isinstance(args, dict) else {"a": args}
