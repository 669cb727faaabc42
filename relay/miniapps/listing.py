"""What was found on disk at one moment, and which of it a name means. Pure.

Two entries never share an id. A name is resolved step by step; the first step in which anything
matches decides, and within it an app outranks a page. Source: seed document of mini-apps,
section 4.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import Struct

from relay.miniapps.artifact import Artifact, app_id, same_title, slug_of
from relay.miniapps.names import folded
from relay.miniapps.record import Record
from relay.protocol.refusals import Refusal, RefusalCode


class Entry(Struct, frozen=True, kw_only=True, gc=False):
    """An artifact and its provenance: where its file lies, and the record that is its own."""

    artifact: Artifact
    root: Path
    parts: tuple[str, ...]
    record: Record | None = None

    @property
    def base_name(self) -> str:
        """The file's name without folders."""
        return self.parts[-1]

    @property
    def is_app(self) -> bool:
        """Whether it is an app rather than a page."""
        return self.artifact.kind == "app"


class Listing(Struct, frozen=True, kw_only=True):
    """Entries by rank: workspace, shelf, sandboxes, examples; `records` by slug.

    `truncated` says that bounds left something out.
    """

    entries: list[Entry]
    records: dict[str, Record]
    truncated: bool = False

    @property
    def artifacts(self) -> list[Artifact]:
        """What is told of the entries."""
        return [entry.artifact for entry in self.entries]

    def resolve(self, name: str) -> Entry:
        """The entry that an id, file name, slug or title means.

        Raises: Refusal `mini-app-not-found`.
        """
        for matches in _steps(name.strip()):
            found = self._first(matches)
            if found is not None:
                return found
        raise Refusal(RefusalCode.MINI_APP_NOT_FOUND, "no mini-app or page has that name")

    def by_id(self, wanted: str) -> Entry | None:
        """The entry of exactly this id, whatever its case."""
        return self._first(lambda entry: folded(entry.artifact.app_id) == folded(wanted))

    def where(self, matches: Callable[[Entry], bool]) -> Iterator[Entry]:
        """Every entry that matches, by rank."""
        return (entry for entry in self.entries if matches(entry))

    def _first(self, matches: Callable[[Entry], bool]) -> Entry | None:
        """The first app that matches, else the first page."""
        page = None
        for entry in self.where(matches):
            if entry.is_app:
                return entry
            page = page or entry
        return page


def _steps(name: str) -> Iterator[Callable[[Entry], bool]]:
    """The rules in their order; each says of one entry whether the name means it."""
    wanted, slug = folded(name), slug_of(name)
    if not wanted:
        return
    is_path = "/" in name or "\\" in name  # means that very path, nothing that is called alike
    yield lambda entry: folded(entry.artifact.app_id) == wanted
    if not is_path:
        yield lambda entry: folded(entry.artifact.app_id) == app_id(slug)
    yield lambda entry: wanted in (folded(entry.artifact.file_name), folded(entry.base_name))
    if not is_path:
        yield lambda entry: entry.artifact.slug == slug
    yield lambda entry: same_title(entry.artifact.title, name)
