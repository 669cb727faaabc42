"""The engine's own bounds, in this process: loops are left to the workers."""

import pytest
import wasmtime

from relay.protocol.limits import Limits
from relay.protocol.refusals import Refusal
from relay.protocol.refusals import RefusalCode as C
from relay.shelf.abi import ABIS, DIFF_ABI, DIGEST_ABI
from relay.shelf.engine import (
    WARM_UP,
    EngineRefused,
    call,
    compile_module,
    instantiate,
    load_artefact,
    make_engine,
)
from relay.shelf.module import look
from tests.shelf.hostile.modules import ABI, BYTES, GREEDY, ODD, PROPOSALS, TRAPS, Hostile

ENGINE = make_engine()
LIMITS = Limits()
ENDS = [
    hostile
    for hostile in (*GREEDY, *TRAPS, *ABI, *PROPOSALS, *BYTES, *ODD)
    if hostile.code is not C.TIME_EXCEEDED
]


def run(module: bytes, abi: str = "buffer-abi/1") -> tuple[int, bytes]:
    layout = ABIS[abi]
    artefact = compile_module(ENGINE, module)
    loaded = load_artefact(ENGINE, artefact)
    instance = instantiate(ENGINE, loaded, memory_bytes=LIMITS.wasm_memory_max_bytes)
    return call(instance, layout, [b"x\n", b"y\n"][: len(layout.inputs)])


@pytest.mark.parametrize("hostile", ENDS, ids=[hostile.name for hostile in ENDS])
def test_look_engine_and_decoder_together_give_each_module_its_code(hostile: Hostile) -> None:
    abi = ABIS[hostile.abi]
    code: C | None = None
    try:
        look(hostile.module, abi=abi, limits=LIMITS)
        returned, output = run(hostile.module, hostile.abi)
        abi.decode(returned, output, [b"x\n", b"y\n"][: len(abi.inputs)])
    except (Refusal, EngineRefused) as refused:
        code = refused.code
    assert code is hostile.code


@pytest.mark.parametrize("hostile", PROPOSALS, ids=[hostile.name for hostile in PROPOSALS])
def test_proposals_are_off_in_the_engine_and_not_only_in_the_look(hostile: Hostile) -> None:
    with pytest.raises(EngineRefused) as refused:
        compile_module(ENGINE, hostile.module)
    assert refused.value.code is C.WASM_INVALID


def test_text_is_no_module_though_the_binding_would_take_it() -> None:
    wasmtime.Module(ENGINE, b"(module)")
    with pytest.raises(EngineRefused):
        compile_module(ENGINE, b"(module)")


def test_what_is_no_artefact_is_not_loaded() -> None:
    for data in (b"", b"\x7fELF", WARM_UP):
        with pytest.raises(EngineRefused) as refused:
            load_artefact(ENGINE, data)
        assert refused.value.code is C.WASM_INVALID


def test_the_warm_up_module_takes_the_way_of_a_real_call() -> None:
    look(WARM_UP, abi=DIGEST_ABI, limits=LIMITS)
    assert run(WARM_UP)[0] == 32


def test_exports_are_looked_at_again_where_they_are_used() -> None:
    instance = instantiate(
        ENGINE,
        load_artefact(ENGINE, compile_module(ENGINE, WARM_UP)),
        memory_bytes=LIMITS.wasm_memory_max_bytes,
    )
    with pytest.raises(EngineRefused, match="exports"):
        call(instance, DIFF_ABI, [b"", b""])
    with pytest.raises(EngineRefused, match="too small"):
        call(instance, DIFF_ABI._replace(function="sha256"), [b"", b""])


def test_a_result_that_is_no_number_is_refused() -> None:
    module = wasmtime.wat2wasm(
        '(module (memory (export "memory") 1) (func (export "sha256") (param i32)))'
    )
    with pytest.raises(EngineRefused, match="no i32"):
        run(bytes(module))


def test_the_same_module_compiles_to_the_same_artefact() -> None:
    assert compile_module(ENGINE, WARM_UP) == compile_module(make_engine(), WARM_UP)
