"""The two buffer ABIs: where input and output lie, and what an output means. Pure.

A module's manifest entry names its ABI; the layout comes from this table alone, never from
the module or the manifest. Runs nothing.

Source: the WebAssembly Tool Shelf Guide, section 2 (offsets, sizes, exported functions).
"""

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from relay.protocol.refusals import Refusal, RefusalCode

PAGE_BYTES = 65_536
MEMORY_EXPORT = "memory"
DIGEST_BYTES = 32
RECORD = struct.Struct("<BIIII")
END_OF_BLOCKS = 0xFF
OPS = ("equal", "delete", "insert")


class InputBuffer(NamedTuple):
    """One argument of the tool and the memory that it is written to, as UTF-8."""

    argument: str
    meaning: str
    address: int
    max_bytes: int


class BufferAbi(NamedTuple):
    """A layout of linear memory and one exported function; the function takes the lengths."""

    name: str
    inputs: tuple[InputBuffer, ...]
    output_address: int
    output_max_bytes: int
    function: str
    decode: Callable[[int, bytes, Sequence[bytes]], dict[str, Any]]

    @property
    def memory_bytes(self) -> int:
        """What the module's memory must hold at least."""
        ends = [buffer.address + buffer.max_bytes for buffer in self.inputs]
        return max(*ends, self.output_address + self.output_max_bytes)

    def output_bytes(self, returned: int) -> int:
        """How much of the output buffer a return value makes valid; 0 where it is an error."""
        return returned if 0 < returned <= self.output_max_bytes else 0

    @property
    def parameters(self) -> dict[str, Any]:
        """The tool's parameters as an admitted schema."""
        return {
            "type": "object",
            "properties": {
                buffer.argument: {"type": "string", "description": buffer.meaning}
                for buffer in self.inputs
            },
            "required": [buffer.argument for buffer in self.inputs],
            "additionalProperties": False,
        }


def encode(abi: BufferAbi, args: Mapping[str, object]) -> tuple[bytes, ...]:
    """Return the bytes of each input buffer, in order.

    Raises: Refusal `missing-argument`, `invalid-argument-type`, `invalid-argument`,
    `input-too-large`.
    """
    return tuple(_encode_one(buffer, args.get(buffer.argument)) for buffer in abi.inputs)


def _encode_one(buffer: InputBuffer, value: object) -> bytes:
    if value is None:
        raise Refusal(RefusalCode.MISSING_ARGUMENT, f"{buffer.argument} is missing")
    if not isinstance(value, str):
        raise Refusal(RefusalCode.INVALID_ARGUMENT_TYPE, f"{buffer.argument} must be a string")
    try:
        data = value.encode()
    except UnicodeEncodeError:
        raise Refusal(
            RefusalCode.INVALID_ARGUMENT, f"{buffer.argument} holds a lone surrogate"
        ) from None
    if len(data) > buffer.max_bytes:
        raise Refusal(
            RefusalCode.INPUT_TOO_LARGE,
            f"{buffer.argument} is {len(data)} bytes; its buffer holds {buffer.max_bytes}",
        )
    return data


def split_lines(data: bytes) -> list[bytes]:
    r"""Split at LF; a final LF opens no further line, CR belongs to its line."""
    lines = data.split(b"\n")
    closed = [line + b"\n" for line in lines[:-1]]
    return closed if lines[-1] == b"" else [*closed, lines[-1]]


# ---- buffer-abi/1 ---------------------------------------------------------------------------


def _decode_digest(returned: int, output: bytes, _inputs: Sequence[bytes]) -> dict[str, Any]:
    if returned == -1:
        raise Refusal(RefusalCode.INPUT_TOO_LARGE, "the module says that the input is too large")
    if returned != DIGEST_BYTES or len(output) != DIGEST_BYTES:
        raise Refusal(
            RefusalCode.UNSUPPORTED_ABI, f"sha256 returned {returned} instead of {DIGEST_BYTES}"
        )
    return {"output": output.hex()}


# ---- buffer-abi/diff ------------------------------------------------------------------------


def _decode_blocks(returned: int, output: bytes, inputs: Sequence[bytes]) -> dict[str, Any]:
    if returned < 0:
        raise Refusal(RefusalCode.DIFF_FAILED, f"the module's diff returned {returned}")
    if returned != len(output) or returned % RECORD.size != 1 or output[-1] != END_OF_BLOCKS:
        raise _malformed(f"{returned} bytes are no records of {RECORD.size} and a closing byte")
    old, new = (split_lines(data) for data in inputs)
    return {"blocks": list(_checked_blocks(output[:-1], old, new))}


def _checked_blocks(
    records: bytes, old: Sequence[bytes], new: Sequence[bytes]
) -> Iterator[dict[str, Any]]:
    """Yield the blocks; together they must walk both inputs from their start to their end."""
    a = b = 0
    for op, a_line, a_count, b_line, b_count in RECORD.iter_unpack(records):
        takes_a, takes_b = op in (0, 1), op in (0, 2)
        expected = (a if takes_a else 0, b if takes_b else 0)
        if op >= len(OPS) or (a_line, b_line) != expected:
            raise _malformed(f"block {op}({a_line},{a_count},{b_line},{b_count}) is out of place")
        if (a_count > 0) != takes_a or (b_count > 0) != takes_b:
            raise _malformed(f"block {OPS[op]} counts {a_count} and {b_count} lines")
        if op == 0 and old[a : a + a_count] != new[b : b + b_count]:
            raise _malformed(f"the lines from {a} and {b} are not equal")
        a, b = a + a_count, b + b_count
        yield {
            "op": OPS[op],
            "aLine": a_line,
            "aCount": a_count,
            "bLine": b_line,
            "bCount": b_count,
        }
    if (a, b) != (len(old), len(new)):
        raise _malformed(f"the blocks end at {a} and {b} of {len(old)} and {len(new)} lines")


def _malformed(what: str) -> Refusal:
    return Refusal(RefusalCode.UNSUPPORTED_ABI, f"the module's output is malformed: {what}")


# ---- the table ------------------------------------------------------------------------------

DIGEST_ABI = BufferAbi(
    name="buffer-abi/1",
    inputs=(InputBuffer("input", "Text to compute over.", 0x400, 8_192),),
    output_address=0x2400,
    output_max_bytes=DIGEST_BYTES,
    function="sha256",
    decode=_decode_digest,
)
DIFF_ABI = BufferAbi(
    name="buffer-abi/diff",
    inputs=(
        InputBuffer("a", "The old text.", 0x10000, 65_536),
        InputBuffer("b", "The new text.", 0x20000, 65_536),
    ),
    output_address=0x30000,
    output_max_bytes=262_144,
    function="diff",
    decode=_decode_blocks,
)
ABIS: Mapping[str, BufferAbi] = {abi.name: abi for abi in (DIGEST_ABI, DIFF_ABI)}
