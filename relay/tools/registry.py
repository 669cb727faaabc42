"""Which tools a room has now, and under which name a model calls each of them.

An app's set is replaced as a whole, per place where it runs: two pages with the same app are
two sets. Schemas are read and compiled in slices, so that a registration never holds the event
loop for long. Knows nothing of sockets; calls run in `relay.tools.dispatch`.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from time import perf_counter

from relay.protocol.limits import LIMITS, Limits
from relay.protocol.refusals import Refusal, RefusalCode
from relay.tools.names import ExposedNames
from relay.tools.parameters import check_of
from relay.tools.schema import declared_name, open_declaration, read_declaration
from relay.tools.tool import Admission, AppId, Registered, ToolHost, ToolName, ToolSpec

OnChange = Callable[[], None]
WhyNot = Callable[[str], Refusal | None]
_Key = tuple[ToolHost, AppId]
_Tools = dict[ToolName, Registered]
_NAMED_MAX = 8
_TURN_S = 0.000_5  # no piece of work is longer than some ms, so no turn is either


class ToolRegistry:
    """The tools of one room; `revision` grows with every change."""

    def __init__(self, *, limits: Limits = LIMITS) -> None:
        self.revision = 0
        self._limits = limits
        self._own: dict[ToolHost, _Tools] = {}
        self._why_not: dict[ToolHost, WhyNot] = {}
        self._apps: dict[_Key, _Tools] = {}
        self._names = ExposedNames()
        self._called: dict[str, Registered] = {}
        self._withdrawn: OrderedDict[str, None] = OrderedDict()
        self._subscribers: list[OnChange] = []
        self._admitting = asyncio.Lock()

    def tools(self) -> list[Registered]:
        """Every tool: the relay's own, then apps in the order in which they first came."""
        sets = (*self._own.values(), *self._apps.values())
        return [tool for tools in sets for tool in tools.values()]

    def find(self, name: str) -> Registered:
        """The tool that a model calls by this name.

        Raises: Refusal `unknown-tool`, `tool-withdrawn` when it was there a moment ago, or what
        its host has against it.
        """
        found = self._called.get(name)
        if found is not None:
            return found
        for why_not in self._why_not.values():
            refusal = why_not(name)
            if refusal is not None:
                raise refusal
        if name in self._withdrawn:
            raise Refusal(RefusalCode.TOOL_WITHDRAWN, f"the tool {name} is no longer there")
        known = ", ".join(list(self._called)[:_NAMED_MAX]) or "none"
        raise Refusal(RefusalCode.UNKNOWN_TOOL, f"no tool has that name; there are: {known}")

    def subscribe(self, on_change: OnChange) -> OnChange:
        """Call `on_change` after each change; the answer ends that."""
        self._subscribers.append(on_change)
        return lambda: self._subscribers.remove(on_change)

    def reserve(
        self, host: ToolHost, specs: Iterable[ToolSpec], *, why_not: WhyNot | None = None
    ) -> None:
        """Replace the relay's own tools of one host; they have their names whoever held them.

        Only a name that another host has reserved stays with that host. `why_not` tells what
        the host has against a tool that it knows and does not offer.
        """
        if why_not is not None:
            self._why_not[host] = why_not
        held = {name for other, own in self._own.items() if other is not host for name in own}
        tools = {
            spec.name: Registered(exposed_name=spec.name, spec=spec, host=host)
            for spec in specs
            if spec.name not in held
        }
        if tools == self._own.get(host):
            return
        self._own[host] = tools
        self._names.reserve(name for own in self._own.values() for name in own)
        for app_tools in self._apps.values():
            for name, tool in app_tools.items():
                if self._names.is_reserved(tool.exposed_name):
                    app_tools[name] = self._exposed_anew(tool)
        self._tell()

    async def replace(self, host: ToolHost, app_id: AppId, tools: Sequence[object]) -> Admission:
        """Replace all tools of an app by the declarations that are admitted, in their order.

        Each is JSON (`msgspec.Raw`) or parsed JSON. One that is refused never removes others,
        nor an earlier tool of its name. Registrations end in the order in which they began.
        """
        async with self._admitting:
            before = self._apps.get((host, app_id), {})
            draft = _Draft(before, {}, self._limits)
            for tool in tools:
                await draft.admit(tool)
            admitted = self._commit((host, app_id), draft)
        accepted = [admitted[name] for name in draft.accepted]
        return Admission(accepted=accepted, rejected=draft.rejected)

    async def register(self, host: ToolHost, app_id: AppId, tool: object) -> Registered:
        """Add one tool to an app's, or replace the one of its name in place.

        Raises: Refusal; the app's tools are then as they were.
        """
        async with self._admitting:
            before = self._apps.get((host, app_id), {})
            draft = _Draft(before, before, self._limits)
            await draft.admit(tool)
            for _, refusal in draft.rejected:
                raise refusal
            admitted = self._commit((host, app_id), draft)
        return admitted[next(iter(draft.accepted))]

    def withdraw(self, host: ToolHost, app_id: AppId) -> None:
        """Forget an app and its tools; one that is not there is forgotten already."""
        tools = self._apps.pop((host, app_id), {})
        for tool in tools.values():
            self._release(tool)
        if tools:
            self._tell()

    def _commit(self, key: _Key, draft: "_Draft") -> _Tools:
        """Put a draft in force; a tool whose name stays keeps the name that models know."""
        host, app_id = key
        before, after = self._apps.get(key, {}), draft.specs
        for name in before.keys() - after.keys():
            self._release(before[name])
        tools = {
            name: Registered(
                exposed_name=before[name].exposed_name if name in before else self._take(name),
                spec=spec,
                host=host,
                app_id=app_id,
            )
            for name, spec in after.items()
        }
        self._apps[key] = tools
        if list(tools.values()) != list(before.values()):
            self._tell()
        return tools

    def _exposed_anew(self, tool: Registered) -> Registered:
        """A tool whose name the relay now needs itself."""
        self._names.release(tool.exposed_name)
        return Registered(
            exposed_name=self._names.take(tool.spec.name),
            spec=tool.spec,
            host=tool.host,
            app_id=tool.app_id,
        )

    def _take(self, name: ToolName) -> ToolName:
        exposed = self._names.take(name)
        self._withdrawn.pop(exposed, None)
        return exposed

    def _release(self, tool: Registered) -> None:
        self._names.release(tool.exposed_name)
        self._withdrawn[tool.exposed_name] = None
        if len(self._withdrawn) > self._limits.call_log_max:
            self._withdrawn.popitem(last=False)

    def _tell(self) -> None:
        self.revision += 1
        self._called = {tool.exposed_name: tool for tool in self.tools()}
        for on_change in tuple(self._subscribers):
            on_change()


class _Draft:
    """An app's tools as they will be, while declarations come in."""

    def __init__(self, before: _Tools, start: _Tools, limits: Limits) -> None:
        self._turn_began = perf_counter()
        self._before = before
        self._limits = limits
        self.specs = {name: tool.spec for name, tool in start.items()}
        self.accepted: dict[ToolName, None] = {}
        self.rejected: list[tuple[str, Refusal]] = []

    async def admit(self, tool: object) -> None:
        """Take one declaration in three pieces of work: measure, read, compile."""
        try:
            declared = open_declaration(tool, limits=self._limits)
            await self._rest()
            spec = read_declaration(declared, limits=self._limits)
            await self._rest()
            check_of(spec.parameters)
            self._add(spec)
        except Refusal as refusal:
            self._reject(tool, refusal)
        await self._rest()

    async def _rest(self) -> None:
        """Give others a turn when this one took a while; small tools share a turn."""
        if perf_counter() - self._turn_began >= _TURN_S:
            await asyncio.sleep(0)
            self._turn_began = perf_counter()

    def _add(self, spec: ToolSpec) -> None:
        most = self._limits.tools_per_app_max
        if spec.name not in self.specs and len(self.specs) >= most:
            raise Refusal(RefusalCode.TOO_MANY_TOOLS, f"an app may have {most} tools")
        self.specs[spec.name] = spec
        self.accepted[spec.name] = None

    def _reject(self, tool: object, refusal: Refusal) -> None:
        name = declared_name(tool, limits=self._limits)
        self.rejected.append((name, refusal))
        earlier = self._before.get(ToolName(name))
        if earlier is not None and len(self.specs) < self._limits.tools_per_app_max:
            self.specs.setdefault(earlier.spec.name, earlier.spec)
