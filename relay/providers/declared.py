"""The tools that a remote model is told, in its dialect; one bad tool never removes the others."""

from collections.abc import Callable, Sequence
from typing import Any

from relay.tools.tool import Registered

Declaration = dict[str, Any]


class Declared:
    """The declarations of one session."""

    def __init__(
        self,
        tools: Sequence[Registered],
        *,
        dialect: Callable[[Registered], Declaration],
        at_most: int,
    ) -> None:
        self._dialect = dialect
        self._at_most = at_most
        self._refused: list[Declaration] = []
        self._all: list[Declaration] = []
        self.replace(tools)

    def replace(self, tools: Sequence[Registered]) -> None:
        """Declare these tools from now on."""
        self._all = [self._dialect(tool) for tool in tools]
        self._refused = [one for one in self._refused if one in self._all]

    def told(self) -> list[Declaration]:
        """Return what the provider is told: neither what it refused nor more than it takes."""
        return [one for one in self._all if one not in self._refused][: self._at_most]

    def refuse(self, position: int) -> str | None:
        """Leave out the one at a position of `told`; return its name, None if there is none."""
        told = self.told()
        if not 0 <= position < len(told):
            return None
        self._refused.append(told[position])
        name: str = told[position]["name"]
        return name
