"""What was found on disk at one moment, and which of it a name means. Pure.

Two entries never share an id. A name is resolved step by step; the first step in which anything
matches decides, and within it an app outranks a page. Source: seed document of mini-apps,
section 4.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from relay.miniapps.artifact import Artifact, app_id, slug_of
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


NamesOf = Callable[[Entry], Sequence[str]]


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
        for names_of in _steps(name.strip()):
            found = self._best(names_of, name.strip())
            if found is not None:
                return found
        raise Refusal(RefusalCode.MINI_APP_NOT_FOUND, "no mini-app or page has that name")

    def by_id(self, wanted: str) -> Entry | None:
        """The entry of exactly this id, else of this id in another case."""
        return self._best(_ids, wanted)

    def _best(self, names_of: NamesOf, wanted: str) -> Entry | None:
        """Of the entries that have the name: an app before a page, the same case before another.

        Ids differ by kind already: of them, the same case goes first.
        """
        best, best_rank = None, (False, False)
        for entry in self.entries:
            names = names_of(entry)
            if any(folded(name) == folded(wanted) for name in names):
                exact = wanted in names
                rank = (exact, entry.is_app) if names_of is _ids else (entry.is_app, exact)
                if best is None or rank > best_rank:
                    best, best_rank = entry, rank
        return best


def _steps(name: str) -> Iterator[NamesOf]:
    """The names that an entry answers to, step by step."""
    if not name:
        return
    is_path = "/" in name or "\\" in name  # means that very path, nothing that is called alike
    slug = slug_of(name)
    yield _ids
    if not is_path:
        yield lambda entry: (name,) if entry.artifact.app_id == app_id(slug) else ()
    yield lambda entry: (entry.artifact.file_name, entry.base_name)
    if not is_path:
        yield lambda entry: (name,) if entry.artifact.slug == slug else ()
    yield lambda entry: (entry.artifact.title,)


def _ids(entry: Entry) -> tuple[str, ...]:
    return (entry.artifact.app_id,)
