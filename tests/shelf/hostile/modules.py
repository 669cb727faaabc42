"""Modules that are broken, greedy or hostile, each with the code that it must be refused with.

Texts are WebAssembly; `OK` stands where a module is odd but harmless.
"""

from typing import NamedTuple

from relay.protocol.refusals import RefusalCode as C
from scripts.build_wasm import compile as compile_wat

OK = None
HEADER = b"\0asm\1\0\0\0"


class Hostile(NamedTuple):
    """`why` is a part of the sentence; `abi` the ABI that the entry claims."""

    name: str
    module: bytes
    code: C | None
    why: str = ""
    abi: str = "buffer-abi/1"


def hashing(body: str, *, around: str = '(memory (export "memory") 1)') -> bytes:
    """A module whose sha256 has this body; `around` holds its other parts."""
    return compile_wat(
        f'(module {around} (func (export "sha256") (param $n i32) (result i32) {body}))'
    )


def diffing(body: str) -> bytes:
    """A module whose diff has this body."""
    return compile_wat(
        '(module (memory (export "memory") 7)'
        f' (func (export "diff") (param i32 i32) (result i32) {body}))'
    )


def wat(text: str) -> bytes:
    """A module of a text."""
    return compile_wat(f"(module {text})")


SHA256 = '(func (export "sha256") (param i32) (result i32) (i32.const 32))'
FINE = hashing("(i32.const 32)")
RECORD = """
  (i32.store8 (i32.const 0x30000) (i32.const {op}))
  (i32.store (i32.const 0x30001) (i32.const {a})) (i32.store (i32.const 0x30005) (i32.const {an}))
  (i32.store (i32.const 0x30009) (i32.const {b})) (i32.store (i32.const 0x3000d) (i32.const {bn}))
  (i32.store8 (i32.const 0x30011) (i32.const {end})) (i32.const {returned})
"""


def record(op: int, a: int, an: int, b: int, bn: int, **more: int) -> bytes:
    """A diff that answers with one record."""
    given = {"end": 255, "returned": 18} | more
    return diffing(RECORD.format(op=op, a=a, an=an, b=b, bn=bn, **given))


GREEDY = [
    Hostile(
        "grows to the bound and touches every page",
        hashing(
            """(local $p i32)
               (drop (memory.grow (i32.const 1023)))
               (loop $touch
                 (i32.store8 (i32.shl (local.get $p) (i32.const 16)) (i32.const 1))
                 (local.set $p (i32.add (local.get $p) (i32.const 1)))
                 (br_if $touch (i32.lt_u (local.get $p) (i32.const 1024))))
               (i32.const 32)"""
        ),
        OK,
    ),
    Hostile(
        "grows past the bound, which fails inside the module",
        hashing("(i32.sub (i32.const 31) (memory.grow (i32.const 1024)))"),
        OK,
    ),
    Hostile(
        "memory of 65 MiB",
        hashing("(i32.const 32)", around='(memory (export "memory") 1040)'),
        C.RESOURCE_EXCEEDED,
        "the bound is 67108864",
    ),
    Hostile(
        "memory of 2 GiB",
        hashing("(i32.const 32)", around='(memory (export "memory") 32768)'),
        C.RESOURCE_EXCEEDED,
    ),
    Hostile(
        "a table of ten million",
        hashing("(i32.const 32)", around='(memory (export "memory") 1) (table 10000000 funcref)'),
        C.RESOURCE_EXCEEDED,
    ),
    Hostile(
        "an endless loop", hashing("(loop $on (br $on)) (i32.const 32)"), C.TIME_EXCEEDED, "2500 ms"
    ),
    Hostile(
        "an endless start function",
        wat(
            f'(memory (export "memory") 1) {SHA256}(func $start (loop $on (br $on))) (start $start)'
        ),
        C.TIME_EXCEEDED,
    ),
    Hostile(
        "a loop that grows memory",
        hashing("(loop $on (drop (memory.grow (i32.const 1))) (br $on)) (i32.const 32)"),
        C.TIME_EXCEEDED,
    ),
]

TRAPS = [
    Hostile(
        "recursion without end",
        wat('(memory (export "memory") 1) (func $f (export "sha256") (param i32) (result i32)'
            " (i32.add (call $f (local.get 0)) (i32.const 1)))"),
        C.WASM_TRAP,
        "stack-overflow",
    ),
    Hostile("unreachable", hashing("(unreachable)"), C.WASM_TRAP, "unreachable"),
    Hostile(
        "division by zero",
        hashing("(i32.div_u (i32.const 1) (i32.sub (local.get $n) (local.get $n)))"),
        C.WASM_TRAP,
        "integer-division-by-zero",
    ),
    Hostile(
        "a load outside memory",
        hashing("(i32.load (i32.const -4))"),
        C.WASM_TRAP,
        "memory-out-of-bounds",
    ),
    Hostile(
        "a load with an offset of 4 GiB",
        hashing("(i32.load offset=4294967295 (i32.const -1))"),
        C.WASM_TRAP,
        "memory-out-of-bounds",
    ),
    Hostile(
        "a call through an empty table",
        wat('(memory (export "memory") 1) (table 1 funcref) (type $t (func (result i32)))'
            ' (func (export "sha256") (param i32) (result i32)'
            " (call_indirect (type $t) (i32.const 0)))"),
        C.WASM_TRAP,
    ),
    Hostile(
        "a trap in the start function",
        wat(f'(memory (export "memory") 1) {SHA256} (func $s (unreachable)) (start $s)'),
        C.WASM_TRAP,
        "unreachable",
    ),
    Hostile(
        "a data segment outside memory",
        wat(f'(memory (export "memory") 1) {SHA256} (data (i32.const 65535) "xx")'),
        C.WASM_TRAP,
    ),
]  # fmt: skip

ABI = [
    Hostile("returns -1", hashing("(i32.const -1)"), C.INPUT_TOO_LARGE),
    Hostile("returns -2", hashing("(i32.const -2)"), C.UNSUPPORTED_ABI, "returned -2"),
    Hostile("returns 0", hashing("(i32.const 0)"), C.UNSUPPORTED_ABI),
    Hostile("returns 31", hashing("(i32.const 31)"), C.UNSUPPORTED_ABI),
    Hostile("returns 33", hashing("(i32.const 33)"), C.UNSUPPORTED_ABI),
    Hostile("returns the largest", hashing("(i32.const 0x7fffffff)"), C.UNSUPPORTED_ABI),
    Hostile("no memory", wat(SHA256), C.UNSUPPORTED_ABI, "no memory named memory"),
    Hostile(
        "memory of no pages",
        hashing("(i32.const 32)", around='(memory (export "memory") 0)'),
        C.UNSUPPORTED_ABI,
        "needs 9248",
    ),
    Hostile(
        "memory that is not exported",
        hashing("(i32.const 32)", around="(memory 1)"),
        C.UNSUPPORTED_ABI,
    ),
    Hostile(
        "memory that is a function", wat(f'(memory 1) (func (export "memory")) {SHA256}'),
        C.UNSUPPORTED_ABI,
    ),
    Hostile(
        "memory too small for diff",
        wat('(memory (export "memory") 6)'
            ' (func (export "diff") (param i32 i32) (result i32) (i32.const 1))'),
        C.UNSUPPORTED_ABI, "needs 458752", abi="buffer-abi/diff",
    ),
    Hostile(
        "sha256 that is a global",
        wat('(memory (export "memory") 1) (global (export "sha256") i32 (i32.const 1))'),
        C.UNSUPPORTED_ABI, "no function named sha256",
    ),
    Hostile("no sha256", wat('(memory (export "memory") 1)'), C.UNSUPPORTED_ABI),
    Hostile(
        "an i64 parameter",
        wat('(memory (export "memory") 1)'
            ' (func (export "sha256") (param i64) (result i32) (i32.const 32))'),
        C.UNSUPPORTED_ABI, "must take 1 i32",
    ),
    Hostile(
        "a result that is not a number",
        wat('(memory (export "memory") 1)'
            ' (func (export "sha256") (param i32) (result f64) (f64.const nan))'),
        C.UNSUPPORTED_ABI,
    ),
    Hostile(
        "a parameter too many",
        wat('(memory (export "memory") 1)'
            ' (func (export "sha256") (param i32 i32) (result i32) (i32.const 32))'),
        C.UNSUPPORTED_ABI,
    ),
    Hostile(
        "two results",
        wat('(memory (export "memory") 1) (func (export "sha256") (param i32) (result i32 i32)'
            " (i32.const 32) (i32.const 32))"),
        C.UNSUPPORTED_ABI,
    ),
    Hostile("diff returns -1", diffing("(i32.const -1)"), C.DIFF_FAILED, abi="buffer-abi/diff"),
    Hostile(
        "diff returns more than its buffer holds", diffing("(i32.const 262145)"),
        C.UNSUPPORTED_ABI, abi="buffer-abi/diff",
    ),
    Hostile("diff returns nothing", diffing("(i32.const 0)"),
            C.UNSUPPORTED_ABI, abi="buffer-abi/diff"),
    Hostile("diff without a closing byte", record(1, 0, 1, 0, 0, end=0),
            C.UNSUPPORTED_ABI, "closing byte", abi="buffer-abi/diff"),
    Hostile("diff with half a record", record(1, 0, 1, 0, 0, returned=10),
            C.UNSUPPORTED_ABI, abi="buffer-abi/diff"),
    Hostile("diff with an unknown op", record(3, 0, 1, 0, 0),
            C.UNSUPPORTED_ABI, "out of place", abi="buffer-abi/diff"),
    Hostile("diff that counts too many lines", record(1, 0, 5, 0, 0),
            C.UNSUPPORTED_ABI, "end at 5 and 0", abi="buffer-abi/diff"),
    Hostile("diff that leaves lines out", record(1, 0, 1, 0, 0),
            C.UNSUPPORTED_ABI, abi="buffer-abi/diff"),
    Hostile("diff that starts in the middle", record(1, 1, 1, 0, 0),
            C.UNSUPPORTED_ABI, "out of place", abi="buffer-abi/diff"),
    Hostile("diff that calls different lines equal", record(0, 0, 1, 0, 1),
            C.UNSUPPORTED_ABI, "not equal", abi="buffer-abi/diff"),
    Hostile("diff with an empty block", record(2, 0, 0, 0, 0),
            C.UNSUPPORTED_ABI, "counts 0", abi="buffer-abi/diff"),
]  # fmt: skip

IMPORTS = [
    Hostile("imported memory", wat(f'(import "env" "memory" (memory 1)) {SHA256}'),
            C.IMPORT_UNDECLARED, "env.memory"),
    Hostile(
        "WASI",
        wat('(import "wasi_snapshot_preview1" "proc_exit" (func (param i32)))'
            f'(memory (export "memory") 1) {SHA256}'),
        C.IMPORT_UNDECLARED, "wasi_snapshot_preview1.proc_exit",
    ),
    Hostile(
        "an import that only the start function calls",
        wat('(import "env" "go" (func $go)) (memory (export "memory") 1) (start $go)' + SHA256),
        C.IMPORT_UNDECLARED,
    ),
    Hostile(
        "an imported global with a name of control characters",
        wat(r'(import "\1b[2J" "\0a" (global i32)) (memory (export "memory") 1)' + SHA256),
        C.IMPORT_UNDECLARED, r"\x1b[2J",
    ),
]  # fmt: skip

MEMORY = '(memory (export "memory") 1)'
PROPOSALS = [
    Hostile("two memories", wat(f"{MEMORY} (memory 1) {SHA256}"), C.WASM_INVALID),
    Hostile("64-bit memory", wat(f'(memory (export "memory") i64 1) {SHA256}'), C.WASM_INVALID),
    Hostile("shared memory", wat(f'(memory (export "memory") 1 1 shared) {SHA256}'),
            C.WASM_INVALID),
    Hostile("pages of one byte",
            wat(f'(memory (export "memory") 65536 (pagesize 1)) {SHA256}'), C.WASM_INVALID),
    Hostile("an array of the garbage collector",
            wat(f"(type (array (mut i32))) {MEMORY} {SHA256}"), C.WASM_INVALID),
    Hostile("an i31", hashing("(drop (ref.i31 (i32.const 1))) (i32.const 32)"), C.WASM_INVALID),
    Hostile("exceptions", wat(f"(tag) {MEMORY} {SHA256}"), C.WASM_INVALID),
    Hostile("a tail call",
            wat(f'{MEMORY} (func $f (export "sha256") (param i32) (result i32)'
                " (return_call $f (local.get 0)))"), C.WASM_INVALID),
    Hostile("atomics", hashing("(i32.atomic.load (i32.const 0))"), C.WASM_INVALID),
    Hostile("wide arithmetic",
            hashing("(i64.mul_wide_u (i64.const 1) (i64.const 2)) (drop) (drop) (i32.const 32)"),
            C.WASM_INVALID),
    Hostile("an externref", wat(f"{MEMORY} (table 1 externref) {SHA256}"), C.WASM_INVALID),
    Hostile("a typed function reference",
            wat(f"(type $t (func)) {MEMORY} (func (param (ref null $t))) {SHA256}"),
            C.WASM_INVALID),
    Hostile("relaxed vectors",
            hashing("(drop (i8x16.relaxed_swizzle (v128.const i64x2 0 0) (v128.const i64x2 0 0)))"
                    " (i32.const 32)"), C.WASM_INVALID),
]  # fmt: skip

BYTES = [
    Hostile("an empty file", b"", C.WASM_INVALID),
    Hostile("garbage", bytes(range(256)), C.WASM_INVALID),
    Hostile("an ELF file", b"\x7fELF" + bytes(100), C.WASM_INVALID),
    Hostile("WebAssembly text", b'(module (memory (export "memory") 1))', C.WASM_INVALID),
    Hostile("a header alone", HEADER, C.UNSUPPORTED_ABI),
    Hostile("a module cut off", FINE[:-3], C.WASM_INVALID, "cut off"),
    Hostile("a component", compile_wat("(component)"), C.WASM_INVALID),
    Hostile("version 2", b"\0asm\2\0\0\0" + FINE[8:], C.WASM_INVALID),
    Hostile("a section twice", FINE + FINE[8:], C.WASM_INVALID, "out of order"),
    Hostile("an unknown section", FINE + b"\x20\x00", C.WASM_INVALID),
    Hostile("a section larger than the file", HEADER + b"\x01\xff\xff\xff\xff\x0f",
            C.WASM_INVALID),
    Hostile("a number of six bytes", HEADER + b"\x01\x80\x80\x80\x80\x80\x00", C.WASM_INVALID),
    Hostile("four thousand million types", HEADER + b"\x01\x05\xff\xff\xff\xff\x0f",
            C.WASM_INVALID, "more than 100000"),
    Hostile("names that are not UTF-8", HEADER + b"\x07\x05\x01\x01\xff\x00\x00", C.WASM_INVALID),
    Hostile("a code section that lies", FINE[:-1] + b"\x0c", C.WASM_INVALID),
    Hostile("a custom section of a megabyte",
            FINE + b"\0" + b"\x84\x80\x40" + b"\1x" + bytes(1_048_578), OK),
]  # fmt: skip

ODD = [
    Hostile(
        "a data segment over the input",
        wat(f'{MEMORY} {SHA256} (data (i32.const 0x400) "not the input")'), OK,
    ),
    Hostile(
        "a start function that writes the output",
        wat(f"{MEMORY} {SHA256} (func $s (i32.store (i32.const 0x2400) (i32.const 1))) (start $s)"),
        OK,
    ),
    Hostile("vectors", hashing("(drop (i8x16.splat (i32.const 1))) (i32.const 32)"), OK),
    Hostile(
        "a table of functions",
        wat(f"{MEMORY} (table 2 funcref) (func $f) (elem (i32.const 0) $f) {SHA256}"), OK,
    ),
]  # fmt: skip

EVERY = [*GREEDY, *TRAPS, *ABI, *IMPORTS, *PROPOSALS, *BYTES, *ODD]


def straight_line(size: int) -> bytes:
    """A legal module with one long function: it takes the compiler seconds a megabyte."""
    step = "(local.set 0 (i32.add (i32.mul (local.get 0) (i32.const 77)) (i32.const 5)))"
    unit = compile_wat(f"(module (func (param i32) {step * 1000}))")
    each = len(unit) // 1000
    return hashing(step * (size // each) + "(i32.const 32)")


def jump_tables(count: int, entries: int) -> bytes:
    """A legal module with many large jump tables."""
    table = f"(block $b (br_table {'$b ' * entries} $b (local.get $n)))"
    return hashing(table * count + "(i32.const 32)")
