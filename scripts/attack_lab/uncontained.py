"""Opens the same files where nothing contains them, to see that an attack is a real one."""

import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from scripts.attack_lab.addresses import all_names_lead_to, with_addresses
from scripts.attack_lab.devtools import Devtools
from scripts.browser_lab.witness import Witness

NO_SDK = b"""<!doctype html><script>
window.webMcp = { registerTool: async () => {}, ready() {} };
</script>"""
ARRIVES_MAX_S = 15.0
LAST_WORDS_S = 0.3


class Uncontained:
    """A context manager: a browser and a witness of its own.

    A browser that may connect also connects later, without a request, to where it has been: it
    must not share a witness with runs in which a mere connection counts as an escape.
    """

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="voicebox-plain-"))
            self._file = Path(folder) / "plain.html"
            self.witness = stack.enter_context(Witness())
            flags = [all_names_lead_to(self.witness.tcp_port)]
            self._devtools = stack.enter_context(Devtools(flags))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def gets_out(self, html: bytes, seen: Callable[[Witness], bool]) -> bool:
        """Open the file as a plain page: whether the witness has `seen` it within 15 s."""
        self._file.write_bytes(NO_SDK + with_addresses(html, self.witness))
        self.witness.forget()
        tab = self._devtools.send("Target.createTarget", url=self._file.as_uri())["targetId"]
        until = time.monotonic() + ARRIVES_MAX_S
        while not seen(self.witness) and time.monotonic() < until:
            self._devtools.wait(LAST_WORDS_S)
        self._devtools.send("Target.closeTarget", targetId=tab)
        self._devtools.wait(LAST_WORDS_S)
        return seen(self.witness)
