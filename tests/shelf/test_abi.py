"""The buffer ABIs: what goes in, and what an output may mean."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.protocol.refusals import Refusal
from relay.protocol.refusals import RefusalCode as C
from relay.shelf.abi import ABIS, DIFF_ABI, DIGEST_ABI, RECORD, encode, split_lines


@given(st.text())
def test_lines_are_split_at_lf_and_nowhere_else(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    lines = split_lines(data)
    assert b"".join(lines) == data
    assert all(line.count(b"\n") <= 1 and line.endswith(b"\n") for line in lines[:-1])
    assert lines[-1:] != [b""]


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b"\n", [b"\n"]),
        (b"a", [b"a"]),
        (b"a\n", [b"a\n"]),
        (b"a\r\nb\rc", [b"a\r\n", b"b\rc"]),
        (b"\n\n", [b"\n", b"\n"]),
    ],
)
def test_lines_of_odd_texts(data: bytes, lines: list[bytes]) -> None:
    assert split_lines(data) == lines


def test_the_layouts_are_those_of_the_table() -> None:
    assert [(b.address, b.max_bytes) for b in DIGEST_ABI.inputs] == [(0x400, 8_192)]
    assert (DIGEST_ABI.output_address, DIGEST_ABI.memory_bytes) == (0x2400, 0x2420)
    assert [(b.address, b.max_bytes) for b in DIFF_ABI.inputs] == [
        (0x10000, 65_536),
        (0x20000, 65_536),
    ]
    assert (DIFF_ABI.output_address, DIFF_ABI.memory_bytes) == (0x30000, 0x70000)
    assert set(ABIS) == {"buffer-abi/1", "buffer-abi/diff"}


def test_parameters_are_the_inputs_and_nothing_else() -> None:
    assert DIFF_ABI.parameters["required"] == ["a", "b"]
    assert DIFF_ABI.parameters["additionalProperties"] is False
    assert set(DIGEST_ABI.parameters["properties"]) == {"input"}


def test_inputs_are_utf8_and_bounded_in_bytes() -> None:
    assert encode(DIGEST_ABI, {"input": "ü"}) == (b"\xc3\xbc",)
    assert encode(DIFF_ABI, {"b": "2", "a": "1"}) == (b"1", b"2")
    assert len(encode(DIGEST_ABI, {"input": "x" * 8_192})[0]) == 8_192
    with pytest.raises(Refusal) as refused:
        encode(DIGEST_ABI, {"input": "ü" * 4_097})
    assert refused.value.code is C.INPUT_TOO_LARGE
    assert "8194 bytes" in refused.value.why


@pytest.mark.parametrize(
    ("returned", "valid"), [(-1, 0), (0, 0), (32, 32), (33, 0), (2**31 - 1, 0)]
)
def test_only_so_much_of_an_output_is_read(returned: int, valid: int) -> None:
    assert DIGEST_ABI.output_bytes(returned) == valid


@given(st.binary(max_size=60), st.integers(-2, 70))
def test_any_digest_output_is_checked(output: bytes, returned: int) -> None:
    if returned == len(output) == 32:
        assert DIGEST_ABI.decode(returned, output, [b""]) == {"output": output.hex()}
        return
    with pytest.raises(Refusal) as refused:
        DIGEST_ABI.decode(returned, output, [b""])
    assert refused.value.code in (C.INPUT_TOO_LARGE, C.UNSUPPORTED_ABI)


RECORDS = st.lists(
    st.tuples(st.integers(0, 4), *[st.integers(0, 4)] * 4).map(lambda r: RECORD.pack(*r)),
    max_size=4,
).map(b"".join)


@given(RECORDS.map(lambda records: records + b"\xff") | st.binary(min_size=1, max_size=60))
def test_any_diff_output_walks_both_texts_or_is_refused(output: bytes) -> None:
    a, b = b"x\ny\n", b"x\nz"
    try:
        blocks = DIFF_ABI.decode(len(output), output, [a, b])["blocks"]
    except Refusal as refusal:
        code = refusal.code
    else:
        code = None
        assert sum(block["aCount"] for block in blocks) == 2
        assert sum(block["bCount"] for block in blocks) == 2
    assert code in (None, C.UNSUPPORTED_ABI)


def test_a_negative_diff_has_failed() -> None:
    with pytest.raises(Refusal) as refused:
        DIFF_ABI.decode(-1, b"", [b"", b""])
    assert refused.value.code is C.DIFF_FAILED
