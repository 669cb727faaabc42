"""Refusals: a rule said no, in words that a peer may act on.

Every code is declared once, in `codes`, and explained once, by area: `tools`, `shelf`, `files`,
`edge`. Nothing here decides anything. `docs/reference/refusals.md` is generated from it.
"""

from relay.protocol.refusals import edge, files, shelf, tools
from relay.protocol.refusals.codes import Refusal, RefusalCode
from relay.protocol.refusals.explained import Explained

EXPLAINED: dict[RefusalCode, Explained] = (
    tools.EXPLAINED | shelf.EXPLAINED | files.EXPLAINED | edge.EXPLAINED
)

__all__ = ["EXPLAINED", "Explained", "Refusal", "RefusalCode"]
