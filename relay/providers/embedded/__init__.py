"""The offline voice: speech recognition, a command parser and speech, in a process of its own.

Nothing of its libraries is loaded in the relay's process.
"""

from relay.providers.embedded.model import EmbeddedModel
from relay.providers.embedded.setup import Setup

__all__ = ["EmbeddedModel", "Setup"]
