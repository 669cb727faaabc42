"""Built-in tools (a ToolHost) for mini-apps: list, launch, close, save, delete, by voice.

They ask the same `MiniApps` as HTTP and the command line do. Deleting takes two calls: the first
only asks, and the second counts as the person's yes if it comes neither sooner than a person
could answer nor late. What a page does with a message is the page's business.
"""

import time
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import orjson

from relay.miniapps.artifact import Artifact
from relay.miniapps.collection import MiniApps
from relay.miniapps.listing import Listing
from relay.miniapps.target import Wish
from relay.miniapps.tool_specs import SPECS
from relay.protocol.limits import Limits
from relay.protocol.messages import CloseApp, ConfirmDelete, LaunchApp, Message
from relay.protocol.refusals import Refusal, RefusalCode
from relay.tools.tool import HostKind, ToolCall, ToolSpec, Waiting

_LIST_MAX_BYTES = 60_000
_SPOKEN_MAX = 8
_ARTICLES = ("the ", "my ", "a ", "an ")
_NOUNS = (" mini-app", " mini app", " app", " page")


class MiniAppTools:
    """The built-in tools of one room; `tell_one` and `tell_all` reach its pages."""

    kind: HostKind = "built-in"

    def __init__(
        self,
        *,
        mini_apps: MiniApps,
        tell_one: Callable[[str, Message], None],
        tell_all: Callable[[Message], int],
        limits: Limits,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._mini_apps = mini_apps
        self._tell_one = tell_one
        self._tell_all = tell_all
        self._limits = limits
        self._clock = clock
        self._asked: dict[tuple[str | None, str], float] = {}
        self._tools: dict[str, Callable[[ToolCall, dict[str, Any]], Awaitable[object]]] = {
            "list_mini_apps": self._list,
            "launch_mini_app": self._launch,
            "close_mini_app": self._close,
            "save_mini_app": self._save,
            "delete_mini_app": self._delete,
        }

    def specs(self) -> tuple[ToolSpec, ...]:
        """Their declarations."""
        return SPECS

    async def call(
        self, spec: ToolSpec, call: ToolCall, args: dict[str, Any], waiting: Waiting
    ) -> bytes:
        """Run one; see ToolHost."""
        return msgspec.json.encode(await self._tools[spec.name](call, args))

    async def _list(self, _: ToolCall, args: dict[str, Any]) -> object:
        return await self._mini_apps.look(lambda listing: _listed(listing, args.get("kind")))

    async def _launch(self, _: ToolCall, args: dict[str, Any]) -> object:
        artifact = await self._meant(args["name"])
        self._tell_one(artifact.app_id, LaunchApp(mini_app=artifact))
        return _done(artifact, "open", launched=artifact.title)

    async def _close(self, _: ToolCall, args: dict[str, Any]) -> object:
        artifact = await self._meant(args["name"])
        if not self._tell_all(CloseApp(app_id=artifact.app_id)):
            raise Refusal(RefusalCode.MINI_APP_UNREACHABLE, "no page of the room is open")
        return _done(artifact, "closed", closed=artifact.title)

    async def _save(self, _: ToolCall, args: dict[str, Any]) -> object:
        saved = await self._mini_apps.save(Wish(html=args["html"], title=args["title"]))
        facts = {"created": saved.created, "updated": saved.updated}
        return _done(saved.artifact, "saved", **facts)

    async def _delete(self, call: ToolCall, args: dict[str, Any]) -> object:
        artifact = await self._meant(args["name"])
        if artifact.source == "examples":
            raise Refusal(RefusalCode.MINI_APP_READ_ONLY, f"{artifact.title} ships with the relay")
        question = (call.session_id, artifact.storage_path)
        if args.get("confirmed") is not True or not self._is_answer(question):
            return self._ask(question, artifact)
        del self._asked[question]
        gone = await self._mini_apps.delete(artifact.app_id)
        return _done(gone, "deleted", deleted=gone.title)

    def _ask(self, question: tuple[str | None, str], artifact: Artifact) -> object:
        now = self._clock()
        oldest = now - self._limits.mini_app_yes_max_ms / 1000
        self._asked = {asked: at for asked, at in self._asked.items() if at >= oldest}
        self._asked[question] = now
        self._tell_all(ConfirmDelete(mini_app=artifact))
        return {
            "ok": True,
            "deleted": False,
            "say": f"Delete {artifact.title} for good?",
            "then": "call again with confirmed true, only after the person said yes",
            **_told(artifact),
        }

    def _is_answer(self, question: tuple[str | None, str]) -> bool:
        """Whether a yes to this question may have come from a person."""
        asked_at = self._asked.get(question)
        if asked_at is None:
            return False
        waited_ms = (self._clock() - asked_at) * 1000
        return self._limits.mini_app_yes_min_ms <= waited_ms <= self._limits.mini_app_yes_max_ms

    async def _meant(self, name: str) -> Artifact:
        return await self._mini_apps.look(lambda listing: _heard(listing, name))


def _heard(listing: Listing, name: str) -> Artifact:
    """What a name means, or a name with the words that people put around it."""
    refusal = None
    for spelled in _spellings(name):
        try:
            return listing.resolve(spelled).artifact
        except Refusal as error:
            refusal = refusal or error
    joined = _letters(_spellings(name)[-1])
    for artifact in listing.artifacts:
        if joined and _letters(artifact.title) == joined:
            return artifact
    raise refusal or Refusal(RefusalCode.MINI_APP_NOT_FOUND, "no name was given")


def _listed(listing: Listing, kind: str | None) -> object:
    found = [each for each in listing.artifacts if kind in (None, each.kind)]
    found.sort(key=lambda each: each.kind)
    told = _that_fit(found)
    return {
        "ok": True,
        "say": _in_words(found),
        "miniApps": told,
        "truncated": listing.truncated or len(told) < len(found),
    }


def _done(artifact: Artifact, what: str, **facts: object) -> dict[str, object]:
    """A result; `say` is what a person wants to hear of it."""
    return {"ok": True, "say": f"{artifact.title} is {what}.", **facts, **_told(artifact)}


def _in_words(found: list[Artifact]) -> str:
    if not found:
        return "There is nothing to launch yet."
    titles = ", ".join(artifact.title for artifact in found[:_SPOKEN_MAX])
    more = len(found) - _SPOKEN_MAX
    return f"{titles}, and {more} more." if more > 0 else f"{titles}."


def _that_fit(found: list[Artifact]) -> list[dict[str, object]]:
    """As many as a tool may answer."""
    told = []
    room_bytes = _LIST_MAX_BYTES
    for artifact in found:
        facts = _told(artifact)
        room_bytes -= len(orjson.dumps(facts)) + 1
        if room_bytes < 0:
            break
        told.append(facts)
    return told


def _told(artifact: Artifact) -> dict[str, object]:
    """What a model is told of one: no path of the person's disk."""
    return {
        "appId": artifact.app_id,
        "title": artifact.title,
        "kind": artifact.kind,
        "fileName": artifact.file_name,
        "source": artifact.source,
    }


def _spellings(name: str) -> list[str]:
    """The name as it was said, then without an article before and a noun behind it."""
    plain = name.strip()
    short = plain
    for article in _ARTICLES:
        if short.casefold().startswith(article):
            short = short[len(article) :]
            break
    spelled = [plain, short]
    for noun in _NOUNS:
        if short.casefold().endswith(noun):
            spelled.append(short[: -len(noun)])
            break
    return spelled


def _letters(text: str) -> str:
    """Letters and digits only: `score board` is heard where `Scoreboard` is meant."""
    return "".join(c for c in text.casefold() if c.isalnum())
