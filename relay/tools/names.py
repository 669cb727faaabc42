"""Names that a model sees: one for each tool, unique, and safe for every provider.

Both providers take `^[A-Za-z_][A-Za-z0-9_-]{0,63}$`. Names of the relay's own tools are
reserved, also for whatever differs only in case or in `-` for `_`.
"""

from collections import Counter
from collections.abc import Iterable

from relay.tools.tool import ToolName

_LENGTH_MAX = 64


class ExposedNames:
    """The names in use in one room."""

    def __init__(self) -> None:
        self._taken: dict[str, str] = {}
        self._reserved: set[str] = set()
        self._shared: Counter[str] = Counter()

    def reserve(self, names: Iterable[str]) -> None:
        """Keep exactly these names for the relay's own tools."""
        self._reserved = {_folded(name) for name in names}

    def is_reserved(self, name: str) -> bool:
        """Whether a name is one of the relay's own, or looks like one."""
        return _folded(name) in self._reserved

    def take(self, name: str) -> ToolName:
        """Find a free name for a tool of that name (admitted: `^[a-zA-Z0-9_-]{1,64}$`)."""
        base = name if name[0].isalpha() or name[0] == "_" else f"_{name}"[:_LENGTH_MAX]
        self._shared[base] += 1
        exposed, count = base, max(self._shared[base], 2)
        while exposed in self._taken or self.is_reserved(exposed):
            suffix = f"_{count}"
            exposed, count = base[: _LENGTH_MAX - len(suffix)] + suffix, count + 1
        self._taken[exposed] = base
        return ToolName(exposed)

    def release(self, exposed: str) -> None:
        """Let go of a name that was taken."""
        base = self._taken.pop(exposed)
        self._shared[base] -= 1
        if not self._shared[base]:
            del self._shared[base]


def _folded(name: str) -> str:
    return name.lower().replace("-", "_")
