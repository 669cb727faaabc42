"""Decides which artifact a save means and what it may touch. Reads and writes nothing.

Ownership is asked per artifact: a save never takes a name on the shelf from another app, and
never a file in the workspace that the caller did not name. Source: seed document of mini-apps,
"Identity, lookup, deletion and saving".
"""

from collections.abc import Iterator
from typing import NoReturn

from msgspec import Struct

from relay.miniapps.artifact import app_id, same_title, slug_of
from relay.miniapps.listing import Entry, Listing
from relay.miniapps.names import check_file_name, folded, leads_out
from relay.miniapps.record import Record
from relay.protocol.limits import Limits
from relay.protocol.refusals import Refusal, RefusalCode


class Wish(Struct, frozen=True, kw_only=True):
    """What a caller wants saved, and what they call it; empty texts count as not said."""

    html: str
    title: str = ""
    file_name: str = ""
    app_id: str = ""


class Target(Struct, frozen=True, kw_only=True):
    """Where a save goes: the names on the shelf, and the copy in the workspace, if any.

    `old` is the artifact that is saved anew or promoted; `exclusive` means that the workspace
    file must not be there yet.
    """

    app_id: str
    slug: str
    file_name: str
    workspace_parts: tuple[str, ...] | None
    exclusive: bool
    created: bool
    old: Entry | None = None
    record: Record | None = None


def choose(listing: Listing, wish: Wish, own_title: str, *, limits: Limits) -> Target:
    """The target of a save; `own_title` is what the html calls itself.

    Raises: Refusal `outside-root`, `dotfile-refused`, `mini-app-name-invalid`,
    `mini-app-name-taken`.
    """
    named = check_file_name(wish.file_name, limits=limits) if wish.file_name else ""
    meant = _meant(listing, wish, named)
    if meant is not None and meant.artifact.source in ("workspace", "host"):
        return _again(listing, meant) if meant.is_app else _promoted(listing, meant)
    slug = _new_slug(wish, named, own_title, meant)
    file_name = named or (meant.base_name if meant is not None else f"{slug}.html")
    in_sandbox = meant is not None and meant.artifact.source == "sandbox"
    target = Target(
        app_id=app_id(slug),
        slug=slug,
        file_name=check_file_name(file_name, limits=limits),
        workspace_parts=None if in_sandbox else (file_name,),
        exclusive=True,
        created=True,
    )
    _refuse_taken(_owners(listing, target), target)
    _refuse_other_file(listing, target)
    return target


def _meant(listing: Listing, wish: Wish, named: str) -> Entry | None:
    """By id, else by the file that was named, else by the title of an app."""
    if wish.app_id:
        found = listing.by_id(wish.app_id)
        if found is None and leads_out(wish.app_id):
            raise Refusal(RefusalCode.OUTSIDE_ROOT, "the id leads out of the folder")
        if found is not None and (not named or _is_called(found, named)):
            return found
    if named:
        return _first(listing, "workspace", named) or _first(listing, "host", named)
    for entry in listing.entries if wish.title else ():
        own = entry.artifact.source in ("workspace", "host")
        if own and entry.is_app and same_title(entry.artifact.title, wish.title):
            return entry
    return None


def _is_called(entry: Entry, named: str) -> bool:
    return folded(named) in (folded(entry.base_name), folded(entry.artifact.file_name))


def _first(listing: Listing, source: str, named: str) -> Entry | None:
    """The file of that name right in the folder, not in one below."""
    for entry in listing.entries:
        if entry.artifact.source == source and len(entry.parts) == 1 and _is_called(entry, named):
            return entry
    return None


def _new_slug(wish: Wish, named: str, own_title: str, meant: Entry | None) -> str:
    if meant is not None and not named:
        return slug_of(meant.base_name)
    return slug_of(named or wish.title or wish.app_id or own_title)


def _again(listing: Listing, entry: Entry) -> Target:
    """An app keeps its id, its slug and its files."""
    record = entry.record
    in_workspace = entry.artifact.source == "workspace"
    elsewhere = record.workspace_parts if record is not None else None
    if any(other is not entry for other in _claiming(listing, elsewhere)):
        elsewhere = None
    target = Target(
        app_id=entry.artifact.app_id,
        slug=record.slug if record else entry.artifact.slug,
        file_name=record.file_name if record else entry.base_name,
        workspace_parts=entry.parts if in_workspace else elsewhere,
        exclusive=not in_workspace,
        created=False,
        old=entry,
        record=record,
    )
    if record is None:
        _refuse_taken((other for other in _owners(listing, target) if other is not entry), target)
    return target


def _promoted(listing: Listing, page: Entry) -> Target:
    """A page of the workspace becomes the app of its name, if no other app has it."""
    slug = slug_of(page.base_name)
    target = Target(
        app_id=app_id(slug),
        slug=slug,
        file_name=page.base_name,
        workspace_parts=page.parts,
        exclusive=False,
        created=True,
        old=page,
    )
    _refuse_taken(_owners(listing, target), target)
    return target


def _owners(listing: Listing, target: Target) -> Iterator[Entry]:
    """Apps that have the target's id, slug or file on the shelf already."""
    for entry in listing.entries:
        if not entry.is_app or entry.artifact.source == "examples":
            continue
        slug = entry.record.slug if entry.record else entry.artifact.slug
        file_name = entry.record.file_name if entry.record else entry.base_name
        same_id = entry.artifact.app_id == target.app_id
        if same_id or slug == target.slug or folded(file_name) == folded(target.file_name):
            yield entry


def _refuse_taken(owners: Iterator[Entry], target: Target) -> None:
    for owner in owners:
        taken(target.file_name, f"{owner.artifact.title} ({owner.artifact.app_id})")


def _claiming(listing: Listing, parts: tuple[str, ...] | None) -> Iterator[Entry]:
    """Entries that a file of the workspace is, or whose record says that it is theirs."""
    path = folded("/".join(parts or ()))
    for entry in listing.entries:
        claimed = entry.record.workspace_path if entry.record is not None else None
        if entry.artifact.source == "workspace":
            claimed = entry.artifact.file_name
        if parts is not None and claimed is not None and folded(claimed) == path:
            yield entry


def _refuse_other_file(listing: Listing, target: Target) -> None:
    """A file of that name in the workspace that nobody named stays as it is."""
    if target.exclusive:
        _refuse_taken(_claiming(listing, target.workspace_parts), target)


def taken(file_name: str, owner: str) -> NoReturn:
    """Raises: Refusal `mini-app-name-taken`, which names the owner."""
    raise Refusal(
        RefusalCode.MINI_APP_NAME_TAKEN,
        f"{file_name} belongs to {owner}; nothing was written",
    )
