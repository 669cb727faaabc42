"""The static look at a module's bytes, before any native code sees them. Pure.

Refuses what is no core module of version 1, what imports anything, and what does not offer
its ABI's memory and function. It is no validator: function bodies are the engine's business.

Source: WebAssembly Core Specification 2.0, chapter 5 (binary format).
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from relay.protocol.limits import Limits
from relay.protocol.refusals import Refusal, RefusalCode
from relay.shelf.abi import MEMORY_EXPORT, PAGE_BYTES, BufferAbi

MAGIC = b"\0asm"
VERSION = b"\x01\0\0\0"
CUSTOM, TYPE, IMPORT, FUNCTION, TABLE, MEMORY, GLOBAL, EXPORT, START = range(9)
# The order in which sections must come: data count (12) stands before code (10).
ORDER = {section: place for place, section in enumerate((1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 10, 11))}
I32 = 0x7F
KINDS = ("function", "table", "memory", "global")


class FuncType(NamedTuple):
    """Value types as their binary codes."""

    params: bytes
    results: bytes


class Export(NamedTuple):
    """`kind` indexes KINDS."""

    kind: int
    item: int


class Shape(NamedTuple):
    """What the look found; memory is counted in pages of 65,536 bytes, (minimum, maximum)."""

    types: list[FuncType]
    functions: list[int]
    memories: list[tuple[int, int | None]]
    exports: dict[str, Export]


def look(data: bytes, *, abi: BufferAbi, limits: Limits) -> None:
    """Refuse a module that can't be run under `abi`.

    Raises: Refusal `wasm-invalid`, `import-undeclared`, `unsupported-abi`,
    `resource-exceeded`.
    """
    shape = read_shape(data, limits=limits)
    _check_memory(shape, abi, limits)
    _check_function(shape, abi)


def has_start(data: bytes) -> bool:
    """Say whether a module that was looked at has a start function."""
    return any(section == START for section, _ in _sections(Reader(data, 8, len(data), 0)))


def read_shape(data: bytes, *, limits: Limits) -> Shape:
    """Read the sections that matter here.

    Raises: Refusal `wasm-invalid`, `import-undeclared`.
    """
    if data[:4] != MAGIC or data[4:8] != VERSION:
        raise _invalid("it is no core WebAssembly module of version 1")
    shape = Shape([], [], [], {})
    try:
        for section, body in _sections(Reader(data, 8, len(data), limits.wasm_declarations_max)):
            if section in _READERS:
                _READERS[section](body, shape)
                body.expect_end()
    except IndexError:
        raise _invalid("it is cut off") from None
    return shape


class Reader:
    """A cursor over part of a module. Raises: Refusal `wasm-invalid`, IndexError at the end."""

    def __init__(self, data: bytes, start: int, end: int, items_max: int) -> None:
        self._data = data
        self._at = start
        self._end = end
        self._items_max = items_max

    def more(self) -> bool:
        """Whether bytes are left."""
        return self._at < self._end

    def byte(self) -> int:
        """Read one byte."""
        if self._at >= self._end:
            raise IndexError
        self._at += 1
        return self._data[self._at - 1]

    def take(self, count: int) -> bytes:
        """Read `count` bytes."""
        if count > self._end - self._at:
            raise IndexError
        self._at += count
        return self._data[self._at - count : self._at]

    def part(self, count: int) -> "Reader":
        """Return a cursor over the next `count` bytes and step past them."""
        if count > self._end - self._at:
            raise IndexError
        self._at += count
        return Reader(self._data, self._at - count, self._at, self._items_max)

    def u32(self) -> int:
        """Read an unsigned LEB128 number of at most 32 bits in at most 5 bytes."""
        value = 0
        for shift in range(0, 35, 7):
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                if value >= 1 << 32:
                    break
                return value
        raise _invalid("a number is longer than 32 bits")

    def items(self) -> range:
        """Read how many items follow."""
        count = self.u32()
        if count > self._items_max:
            raise _invalid(f"it declares more than {self._items_max} items of a kind")
        return range(count)

    def name(self) -> str:
        """Read a name."""
        try:
            return self.take(self.u32()).decode()
        except UnicodeDecodeError:
            raise _invalid("a name is not UTF-8") from None

    def expect_end(self) -> None:
        """Refuse bytes that are left over."""
        if self.more():
            raise _invalid("a section is longer than its content")


def _sections(reader: Reader) -> Iterator[tuple[int, Reader]]:
    last = -1
    while reader.more():
        section = reader.byte()
        body = reader.part(reader.u32())
        if section == CUSTOM:
            continue
        place = ORDER.get(section)
        if place is None or place <= last:
            raise _invalid(f"section {section} is unknown, repeated or out of order")
        last = place
        yield section, body


def _read_types(body: Reader, shape: Shape) -> None:
    for _ in body.items():
        if body.byte() != 0x60:
            raise _invalid("it declares types of a proposal that is off")
        shape.types.append(FuncType(body.take(body.u32()), body.take(body.u32())))


def _read_imports(body: Reader, _shape: Shape) -> None:
    count = body.u32()
    if count:
        first = f"{_shown(body.name())}.{_shown(body.name())}"
        more = f" and {count - 1} more" if count > 1 else ""
        raise Refusal(
            RefusalCode.IMPORT_UNDECLARED,
            f"the module imports {first}{more}; a shelf module imports nothing",
        )


def _read_functions(body: Reader, shape: Shape) -> None:
    shape.functions.extend(body.u32() for _ in body.items())


def _read_memories(body: Reader, shape: Shape) -> None:
    for _ in body.items():
        flags = body.byte()
        if flags > 1:
            raise _invalid("its memory is shared, 64-bit or has another page size")
        shape.memories.append((body.u32(), body.u32() if flags else None))
    if len(shape.memories) > 1:
        raise _invalid("it has more than one memory")


def _read_exports(body: Reader, shape: Shape) -> None:
    for _ in body.items():
        name = body.name()
        export = Export(body.byte(), body.u32())
        if export.kind >= len(KINDS) or name in shape.exports:
            raise _invalid(f"export {_shown(name)} is repeated or of an unknown kind")
        shape.exports[name] = export


_READERS: dict[int, Callable[[Reader, Shape], None]] = {
    TYPE: _read_types,
    IMPORT: _read_imports,
    FUNCTION: _read_functions,
    MEMORY: _read_memories,
    EXPORT: _read_exports,
}


def _check_memory(shape: Shape, abi: BufferAbi, limits: Limits) -> None:
    export = _exported(shape, MEMORY_EXPORT, "memory")
    if export.item >= len(shape.memories):
        raise _unsupported("it exports a memory that it does not have")
    minimum, _ = shape.memories[export.item]
    size = minimum * PAGE_BYTES
    if size > limits.wasm_memory_max_bytes:
        raise Refusal(
            RefusalCode.RESOURCE_EXCEEDED,
            f"the module's memory starts at {size} bytes; the bound is "
            f"{limits.wasm_memory_max_bytes}",
        )
    if size < abi.memory_bytes:
        raise _unsupported(f"its memory is {size} bytes and {abi.name} needs {abi.memory_bytes}")


def _check_function(shape: Shape, abi: BufferAbi) -> None:
    export = _exported(shape, abi.function, "function")
    if export.item >= len(shape.functions) or shape.functions[export.item] >= len(shape.types):
        raise _invalid("it exports a function that it does not have")
    declared = shape.types[shape.functions[export.item]]
    if declared != FuncType(bytes([I32] * len(abi.inputs)), bytes([I32])):
        raise _unsupported(
            f"{abi.function} must take {len(abi.inputs)} i32 and return one i32 under {abi.name}"
        )


def _exported(shape: Shape, name: str, kind: str) -> Export:
    export = shape.exports.get(name)
    if export is None or KINDS[export.kind] != kind:
        raise _unsupported(f"it exports no {kind} named {name}")
    return export


def _shown(name: str) -> str:
    """A module's own words, safe in a sentence."""
    return ascii(name[:64])[1:-1]


def _invalid(what: str) -> Refusal:
    return Refusal(RefusalCode.WASM_INVALID, f"the module is not valid: {what}")


def _unsupported(what: str) -> Refusal:
    return Refusal(RefusalCode.UNSUPPORTED_ABI, f"the module does not fit its ABI: {what}")
