"""Changed modules at random; `scripts/fuzz/shelf_module.py` runs many more."""

from collections import Counter

from hypothesis import example, given
from hypothesis import strategies as st

from relay.protocol.limits import Limits
from relay.shelf.abi import DIGEST_ABI
from scripts.fuzz.shelf_module import mutants, verdict

LIMITS = Limits()


def test_every_mutant_is_accepted_or_refused_by_a_code_of_the_look() -> None:
    seen = Counter(verdict(module, abi, LIMITS) for module, abi in mutants(3_000, seed=1))
    assert seen.total() == 3_000
    assert seen["accepted"] > 100  # it is not everything that is refused
    assert seen["wasm-invalid"] > 100
    assert seen["unsupported-abi"] > 10


@given(st.binary(max_size=200))
@example(b"\x01\x05\xff\xff\xff\xff\x0f")
def test_any_bytes_behind_the_header_are_judged(data: bytes) -> None:
    assert verdict(b"\0asm\1\0\0\0" + data, DIGEST_ABI, LIMITS)
