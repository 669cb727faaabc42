"""A room ties sockets together: one tool registry, its hosts, its dispatcher, its frame feed.

It knows pages and hosts only through their small interfaces; sockets belong to the server.
"""

import asyncio
import re
import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

from relay.miniapps.host import MiniAppHost
from relay.protocol.limits import Limits
from relay.protocol.messages import Message
from relay.protocol.refusals import Refusal, RefusalCode
from relay.tools.bucket import TokenBucket
from relay.tools.dispatch import ToolDispatcher
from relay.tools.feed import FrameFeed
from relay.tools.registry import ToolRegistry
from relay.tools.tool import Admission, AppId

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


class WorkspacePage:
    """A page that runs apps; it outlives a short break of its socket."""

    def __init__(self, *, workspace_id: str, limits: Limits) -> None:
        self.workspace_id = workspace_id
        self.host = MiniAppHost(limits=limits)
        self.apps: dict[AppId, None] = {}
        self.registrations = TokenBucket(
            burst=limits.registrations_burst_max, per_s=limits.registrations_per_second_max
        )
        self.leaving: asyncio.TimerHandle | None = None
        self.held_by: Attachment | None = None


class Attachment:
    """One socket's hold on a page; a newer socket of the page takes the hold over."""

    def __init__(self, page: WorkspacePage, send: Callable[[Message], None]) -> None:
        self.page = page
        self.send = send


class Room:
    """One registry and all who share it."""

    def __init__(self, *, name: str, limits: Limits, show_args: bool = False) -> None:
        self.name = name
        self._limits = limits
        self.registry = ToolRegistry(limits=limits)
        self.feed = FrameFeed(limits=limits)
        self.dispatcher = ToolDispatcher(
            registry=self.registry,
            publish=self.feed.publish,
            limits=limits,
            show_args=show_args,
        )
        self._pages: dict[str, WorkspacePage] = {}
        self._nowhere = WorkspacePage(workspace_id="", limits=limits)
        self._visitors: Counter[str] = Counter()
        self._farewells: list[Callable[[], None]] = []

    @property
    def idle(self) -> bool:
        """Whether nobody is here and nothing runs."""
        return not (self._pages or self._visitors.total() or self.dispatcher.running)

    @contextmanager
    def visited(self, kind: Literal["live", "frames"]) -> Iterator[None]:
        """Count a socket that is no page while it is here. Raises: Refusal `server-full`."""
        if self._visitors[kind] >= self._limits.sockets_per_room_max:
            raise Refusal(RefusalCode.SERVER_FULL, "the room has as many such sockets as it may")
        self._visitors[kind] += 1
        try:
            yield
        finally:
            self._visitors[kind] -= 1

    def when_closed(self, farewell: Callable[[], None]) -> None:
        """Call this once, when the room is given up."""
        self._farewells.append(farewell)

    def attach_page(
        self, send: Callable[[Message], None], workspace_id: str | None = None
    ) -> Attachment:
        """A page's socket is there; a known `workspace_id` takes its tools up again.

        Raises: Refusal `server-full`.
        """
        page = self._pages.get(workspace_id or "")
        if page is None:
            if len(self._pages) >= self._limits.sockets_per_room_max:
                raise Refusal(RefusalCode.SERVER_FULL, "the room has as many pages as it may")
            page = WorkspacePage(workspace_id=f"ws_{secrets.token_hex(16)}", limits=self._limits)
        self._pages.pop(page.workspace_id, None)
        self._pages[page.workspace_id] = page  # the last to come is the last in line
        if page.leaving is not None:
            page.leaving.cancel()
            page.leaving = None
        page.host.detach()  # what an older socket of the page owed is refused
        page.host.attach(send)
        page.held_by = Attachment(page, send)
        return page.held_by

    def detach_page(self, attachment: Attachment) -> None:
        """The page's socket is gone: calls are refused now, tools leave after the grace."""
        page = attachment.page
        if page.held_by is not attachment:
            return
        page.held_by = None
        page.host.detach()
        page.leaving = asyncio.get_running_loop().call_later(
            self._limits.page_grace_ms / 1000, self._forget, page
        )

    def page_of(self, app_id: str) -> WorkspacePage:
        """The page that runs the app, else a place of which every call is unreachable."""
        for page in self._pages.values():
            if AppId(app_id) in page.apps:
                return page
        return self._nowhere

    def tell_pages(self, message: Message) -> int:
        """Tell every page that is there; the answer is how many."""
        holds = [page.held_by for page in self._pages.values() if page.held_by is not None]
        for hold in holds:
            hold.send(message)
        return len(holds)

    def tell_one_page(self, app_id: str, message: Message) -> None:
        """Tell the page that runs the app, else the one that came last.

        Raises: Refusal `mini-app-unreachable` when no page is there.
        """
        pages = [page for page in self._pages.values() if page.held_by is not None]
        pages.sort(key=lambda page: AppId(app_id) in page.apps)
        hold = pages[-1].held_by if pages else None
        if hold is None:
            raise Refusal(RefusalCode.MINI_APP_UNREACHABLE, "no page of the room is open")
        hold.send(message)

    async def register(
        self, page: WorkspacePage, app_id: str, tools: Sequence[object]
    ) -> Admission:
        """Replace the app's tools.

        Raises: Refusal `rate-limited`; `bad-request` over `apps_per_page_max`.
        """
        if not page.registrations.take():
            raise Refusal(RefusalCode.RATE_LIMITED, "too many registrations; try again in a second")
        known = AppId(app_id)
        if known not in page.apps and len(page.apps) >= self._limits.apps_per_page_max:
            if page is not self._nowhere:
                raise Refusal(RefusalCode.BAD_REQUEST, "the page runs as many apps as it may")
            self.close_app(page, next(iter(page.apps)))  # nobody else would ever close them
        page.apps[known] = None
        if page is not self._nowhere:  # what was registered before its page came is superseded
            self.close_app(self._nowhere, app_id)
        admission = await self.registry.replace(page.host, known, tools)
        if known not in page.apps:  # the page was forgotten while its schemas were compiled
            self.registry.withdraw(page.host, known)
        return admission

    def close_app(self, page: WorkspacePage, app_id: str) -> None:
        """The app is gone; unknown ids are ignored (a page may close what never registered)."""
        if AppId(app_id) in page.apps:
            del page.apps[AppId(app_id)]
            self.registry.withdraw(page.host, AppId(app_id))

    def close(self) -> None:
        """Forget every page at once, and give the room up."""
        for page in tuple(self._pages.values()):
            if page.leaving is not None:
                page.leaving.cancel()
            self._forget(page)
        while self._farewells:
            self._farewells.pop()()

    def _forget(self, page: WorkspacePage) -> None:
        self._pages.pop(page.workspace_id, None)
        page.host.detach()
        for app_id in tuple(page.apps):
            self.close_app(page, app_id)


class Rooms:
    """The rooms of one relay, made when first named; idle ones make way for new ones."""

    def __init__(self, *, limits: Limits, show_args: bool, prepare: Callable[[Room], None]) -> None:
        self._limits = limits
        self._show_args = show_args
        self._prepare = prepare
        self._rooms: dict[str, Room] = {}

    def get(self, name: str) -> Room:
        """The room of that name. Raises: Refusal `bad-request`, `server-full`."""
        room = self._rooms.get(name)
        if room is None:
            if not _NAME.fullmatch(name):
                raise Refusal(
                    RefusalCode.BAD_REQUEST, "a room's name is 1 to 64 of a-z A-Z 0-9 _ -"
                )
            self._make_way()
            room = Room(name=name, limits=self._limits, show_args=self._show_args)
            self._prepare(room)
            self._rooms[name] = room
        return room

    def _make_way(self) -> None:
        """Give the oldest idle room up if there must be one less."""
        if len(self._rooms) < self._limits.rooms_max:
            return
        for name, room in self._rooms.items():
            if room.idle:
                del self._rooms[name]
                room.close()
                return
        raise Refusal(RefusalCode.SERVER_FULL, "the relay has as many rooms as it may")

    def all(self) -> list[Room]:
        """Every room that was made."""
        return list(self._rooms.values())

    async def drain(self) -> None:
        """Refuse new calls everywhere, and return when the running ones are done."""
        await asyncio.gather(*(room.dispatcher.drain() for room in self._rooms.values()))

    def close(self) -> None:
        """Close every room."""
        for room in self._rooms.values():
            room.close()
