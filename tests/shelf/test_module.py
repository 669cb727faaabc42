"""The static look: what it accepts, and the sentences with which it refuses."""

import pytest

from relay.protocol.limits import Limits
from relay.protocol.refusals import Refusal
from relay.protocol.refusals import RefusalCode as C
from relay.shelf.abi import DIFF_ABI, DIGEST_ABI
from relay.shelf.module import has_start, look, read_shape
from tests.shelf.hostile.modules import EVERY, FINE, HEADER, MEMORY, SHA256, Hostile, hashing, wat
from tests.shelf.shelves import SHIPPED

LIMITS = Limits()
EARLY = [h for h in EVERY if h.code in (C.IMPORT_UNDECLARED, C.UNSUPPORTED_ABI) and h.why]


@pytest.mark.parametrize(("name", "abi"), [("hash", DIGEST_ABI), ("diff", DIFF_ABI)])
def test_the_shipped_modules_are_accepted(name: str, abi: object) -> None:
    data = (SHIPPED / f"{name}.wasm").read_bytes()
    assert abi in (DIGEST_ABI, DIFF_ABI)
    look(data, abi=DIGEST_ABI if abi is DIGEST_ABI else DIFF_ABI, limits=LIMITS)
    assert not has_start(data)


def test_memory_and_function_are_found_by_their_exports() -> None:
    shape = read_shape((SHIPPED / "diff.wasm").read_bytes(), limits=LIMITS)
    assert set(shape.exports) == {"memory", "diff"}
    assert shape.memories == [(168, None)]


def test_a_start_function_is_seen() -> None:
    assert has_start(wat(f"{MEMORY} {SHA256} (func $s) (start $s)"))


@pytest.mark.parametrize(
    ("module", "code"),
    [
        (FINE.replace(b"memory", b"memor\xff"), C.WASM_INVALID),
        (FINE.replace(b"sha256", b"memory"), C.WASM_INVALID),
        (HEADER + b"\x01\x02\x01\x5f", C.WASM_INVALID),  # a type that is no function
        (HEADER + b"\x01\x01\x00\x00", C.WASM_INVALID),
        (HEADER + b"\x02\x01\x00", C.UNSUPPORTED_ABI),  # no imports, said aloud
        (HEADER + b"\x05\x03\x01\x00\x01" + b"\x07\x05\x01\x01x\x09\x00", C.WASM_INVALID),
        (HEADER + b"\x05\x03\x01\x00\x01" + b"\x07\x0a\x01\x06memory\x02\x05", C.UNSUPPORTED_ABI),
        (
            HEADER + b"\x05\x03\x01\x00\x01" + b"\x07\x13\x02\x06memory\x02\x00\x06sha256\x00\x00",
            C.WASM_INVALID,
        ),
        (HEADER + b"\x05\x04\x02\x00\x01\x00", C.WASM_INVALID),
        (HEADER + b"\x05\x03\x01\x04\x01", C.WASM_INVALID),  # 64-bit addresses
        (HEADER + b"\x0a\x01\x00\x01\x01\x00", C.WASM_INVALID),  # types after code
        (HEADER + b"\x00\xff", C.WASM_INVALID),
    ],
    ids=range(12),
)
def test_odd_bytes_have_their_code(module: bytes, code: C) -> None:
    with pytest.raises(Refusal) as refused:
        look(module, abi=DIGEST_ABI, limits=LIMITS)
    assert refused.value.code is code


@pytest.mark.parametrize("hostile", EARLY, ids=[h.name for h in EARLY])
def test_a_sentence_names_what_is_wrong_and_holds_no_control_characters(hostile: Hostile) -> None:
    abi = DIFF_ABI if hostile.abi == "buffer-abi/diff" else DIGEST_ABI
    try:
        look(hostile.module, abi=abi, limits=LIMITS)
    except Refusal as refusal:
        told = refusal.why
    else:
        told = hostile.why  # the decoder's business
    assert hostile.why in told
    assert told.isprintable()


def test_many_imports_are_named_only_at_first() -> None:
    names = "".join(f'(import "m" "f{number}" (func))' for number in range(500))
    with pytest.raises(Refusal) as refused:
        look(wat(names + SHA256), abi=DIGEST_ABI, limits=LIMITS)
    assert refused.value.code is C.IMPORT_UNDECLARED
    assert "m.f0" in refused.value.why
    assert len(refused.value.why) < 300


def test_declarations_are_bounded() -> None:
    module = hashing("(i32.const 32)", around=MEMORY + "(func)" * 200)
    look(module, abi=DIGEST_ABI, limits=LIMITS)
    with pytest.raises(Refusal, match="more than 100 items"):
        look(module, abi=DIGEST_ABI, limits=Limits(wasm_declarations_max=100))
