"""The one wasmtime engine and what is done with it: compile, load, run. Worker side only.

No process, no channel, no confinement here; the server process never imports this module.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import wasmtime

from relay.protocol.refusals import RefusalCode
from relay.shelf.abi import MEMORY_EXPORT, BufferAbi

MAX_WASM_STACK_BYTES = 512 * 1024
TABLE_ELEMENTS_MAX = 65_536
TABLES_MAX = 4

# On by default or one release away from it, and of no use to a module without imports.
PROPOSALS_OFF = (
    "gc_support",
    "wasm_gc",
    "wasm_function_references",
    "wasm_exceptions",
    "wasm_threads",
    "shared_memory",
    "wasm_memory64",
    "wasm_multi_memory",
    "wasm_component_model",
    "wasm_tail_call",
    "wasm_stack_switching",
    "wasm_custom_page_sizes",
    "wasm_wide_arithmetic",
    "wasm_relaxed_simd",
)

# A module of our own that takes the paths of a real call, so that a spare is warm:
# (module (memory (export "memory") 1)
#   (func (export "sha256") (param i32) (result i32)
#     (i32.store8 (i32.const 0x2400) (local.get 0)) (i32.const 32)))
WARM_UP = bytes.fromhex(
    "0061736d0100000001060160017f017f030201000503010001071302066d656d"
    "6f727902000673686132353600000a0f010d004180c80020003a000041200b"
)


class EngineRefused(Exception):  # noqa: N818 - a refusal on its way out of the worker
    """The engine said no; `detail` may hold words of the module."""

    def __init__(self, code: RefusalCode, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail


def make_engine() -> wasmtime.Engine:
    """Configure for untrusted core modules in a process that forks."""
    config = wasmtime.Config()
    config.strategy = "cranelift"
    config.cranelift_opt_level = "speed"
    config.cranelift_nan_canonicalization = True  # the same output on every machine
    config.parallel_compilation = False  # its threads would not survive a fork
    config.consume_fuel = False  # the kernel's timer also covers compiling and start functions
    config.epoch_interruption = False
    config.max_wasm_stack = MAX_WASM_STACK_BYTES
    config.memory_init_cow = False  # it would need memfd_create inside the sandbox
    config.native_unwind_info = False
    config.debug_info = False
    config.macos_use_mach_ports = False  # they do not survive a fork
    for proposal in PROPOSALS_OFF:
        setattr(config, proposal, False)
    return wasmtime.Engine(config)


def compile_module(engine: wasmtime.Engine, data: bytes) -> bytes:
    """Return the artefact. Raises: EngineRefused `wasm-invalid`."""
    # The binding would take WebAssembly text as well.
    if not data.startswith(b"\0asm"):
        raise EngineRefused(RefusalCode.WASM_INVALID, "no binary module")
    try:
        return bytes(wasmtime.Module(engine, data).serialize())
    except wasmtime.WasmtimeError as error:
        raise EngineRefused(RefusalCode.WASM_INVALID, str(error)) from None


def load_artefact(engine: wasmtime.Engine, artefact: bytes) -> wasmtime.Module:
    """Make native code of an artefact: only where the process dies after one call."""
    try:
        return wasmtime.Module.deserialize(engine, artefact)
    except wasmtime.WasmtimeError as error:
        raise EngineRefused(RefusalCode.WASM_INVALID, str(error)) from None


class Instance(NamedTuple):
    """A module with its memory, in a store of its own."""

    store: wasmtime.Store
    exports: Mapping[str, object]


def instantiate(engine: wasmtime.Engine, module: wasmtime.Module, *, memory_bytes: int) -> Instance:
    """Make memory and tables, and run the start function if there is one.

    Raises: EngineRefused `wasm-trap`, `resource-exceeded`.
    """
    store = wasmtime.Store(engine)
    store.set_limits(
        memory_size=memory_bytes,
        table_elements=TABLE_ELEMENTS_MAX,
        instances=1,
        tables=TABLES_MAX,
        memories=1,
    )
    with _refusals():
        return Instance(store, wasmtime.Instance(store, module, []).exports(store))


def call(instance: Instance, abi: BufferAbi, inputs: Sequence[bytes]) -> tuple[int, bytes]:
    """Write the inputs and call once; return what the module returned and its output.

    Raises: EngineRefused `wasm-trap`, `unsupported-abi`.
    """
    store = instance.store
    memory, function = _parts(instance, abi)
    for buffer, data in zip(abi.inputs, inputs, strict=True):
        memory.write(store, data, buffer.address)
    with _refusals():
        returned = function(store, *(len(data) for data in inputs))
    if not isinstance(returned, int):
        raise EngineRefused(RefusalCode.UNSUPPORTED_ABI, "the return value is no i32")
    end = abi.output_address + abi.output_bytes(returned)
    return returned, bytes(memory.read(store, abi.output_address, end))


@contextmanager
def _refusals() -> Iterator[None]:
    """Turn what the engine raises into a refusal."""
    try:
        yield
    except wasmtime.Trap as trap:
        code = trap.trap_code
        name = code.name.lower().replace("_", "-") if code else "unknown"
        raise EngineRefused(RefusalCode.WASM_TRAP, name) from None
    except wasmtime.WasmtimeError as error:
        raise EngineRefused(RefusalCode.RESOURCE_EXCEEDED, str(error)) from None


def _parts(instance: Instance, abi: BufferAbi) -> tuple[wasmtime.Memory, wasmtime.Func]:
    memory, function = instance.exports.get(MEMORY_EXPORT), instance.exports.get(abi.function)
    if not isinstance(memory, wasmtime.Memory) or not isinstance(function, wasmtime.Func):
        raise EngineRefused(RefusalCode.UNSUPPORTED_ABI, "its exports do not fit")
    if memory.data_len(instance.store) < abi.memory_bytes:
        raise EngineRefused(RefusalCode.UNSUPPORTED_ABI, "its memory is too small")
    return memory, function
