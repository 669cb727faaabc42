"""Change modules at random and look at them: the look says yes or refuses, and nothing else.

    python scripts/fuzz/shelf_module.py                20,000 mutants of the shipped modules
    python scripts/fuzz/shelf_module.py 500000 --seed 7

Mutants that the look accepts are also given to the engine, which must say yes or no as well.
"""

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from relay.protocol.limits import Limits  # noqa: E402 - the path comes first
from relay.protocol.refusals import Refusal, RefusalCode  # noqa: E402
from relay.shelf.abi import DIFF_ABI, DIGEST_ABI, BufferAbi  # noqa: E402
from relay.shelf.engine import EngineRefused, compile_module, make_engine  # noqa: E402
from relay.shelf.module import has_start, look  # noqa: E402

SEEDS = (("hash", DIGEST_ABI), ("diff", DIFF_ABI))
ALLOWED = {
    RefusalCode.WASM_INVALID,
    RefusalCode.IMPORT_UNDECLARED,
    RefusalCode.UNSUPPORTED_ABI,
    RefusalCode.RESOURCE_EXCEEDED,
}
CHANGES_MAX = 4
INTERESTING = (0, 1, 2, 5, 6, 7, 8, 11, 12, 0x40, 0x60, 0x6F, 0x70, 0x7F, 0x80, 0xFF)
# Where the sections that the look reads lie; the code behind them is the engine's.
HEAD_BYTES = 80


def mutants(count: int, seed: int) -> Iterator[tuple[bytes, BufferAbi]]:
    """Give `count` changed modules, the same ones for the same seed."""
    chance = random.Random(seed)  # noqa: S311 - to be repeatable is what it is for
    modules = [((ROOT / f"shelf/{name}.wasm").read_bytes(), abi) for name, abi in SEEDS]
    for _ in range(count):
        module, abi = chance.choice(modules)
        data = bytearray(module)
        for _ in range(chance.randint(1, CHANGES_MAX)):
            _change(data, chance)
        yield bytes(data), abi


def _change(data: bytearray, chance: random.Random) -> None:
    most = min(len(data), HEAD_BYTES) if chance.random() < 0.8 else len(data)
    at = chance.randrange(most) if most else 0
    match chance.randrange(6):
        case 0:
            data[at : at + 1] = bytes([chance.randrange(256)])
        case 1:
            data[at : at + 1] = bytes([chance.choice(INTERESTING)])
        case 2:
            del data[at : at + chance.randint(1, 8)]
        case 3:
            data[at:at] = chance.randbytes(chance.randint(1, 8))
        case 4:
            del data[at:]
        case _:
            piece = data[at : at + chance.randint(1, 32)]
            place = chance.randrange(len(data) + 1)
            data[place:place] = piece


def verdict(module: bytes, abi: BufferAbi, limits: Limits) -> str:
    """Look at one module; return its refusal code, or "accepted". Any other error is a bug."""
    try:
        look(module, abi=abi, limits=limits)
    except Refusal as refusal:
        if refusal.code not in ALLOWED or not refusal.why.isprintable():
            raise AssertionError(refusal) from refusal
        return str(refusal.code)
    has_start(module)
    return "accepted"


def main() -> int:
    """Run, and print what became of them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("count", nargs="?", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    engine, limits, seen = make_engine(), Limits(), Counter[str]()
    for module, abi in mutants(arguments.count, arguments.seed):
        word = verdict(module, abi, limits)
        if word == "accepted":
            try:
                compile_module(engine, module)
            except EngineRefused:
                word = "accepted, refused by the engine"
        seen[word] += 1
    for word, count in seen.most_common():
        print(f"{count:8}  {word}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
