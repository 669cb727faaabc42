"""A live model that plays a script: for demos without a microphone, and for tests."""

from relay.providers.script.model import ScriptModel
from relay.providers.script.script import DEMO, Script, read_script

__all__ = ["DEMO", "Script", "ScriptModel", "read_script"]
