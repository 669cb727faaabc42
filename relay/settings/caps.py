"""Limits that the operator of a machine may change, each within bounds of its own.

They bound what peers may take of the machine, never what is said: no client, page or tool has to
know them. A bound is wide enough for any machine on which the relay was measured, and never so
wide that the cap means nothing.
"""

from typing import Any

from msgspec import structs

from relay.protocol.limits import LIMITS, Limits
from relay.settings.kinds import whole
from relay.settings.table import PREFIX, Setting

BOUNDS: dict[str, tuple[int, int]] = {
    "sockets_max": (1, 16_384),
    "live_sockets_max": (1, 16_384),
    "workspace_sockets_max": (1, 16_384),
    "frames_sockets_max": (1, 16_384),
    "sockets_before_hello_max": (1, 4_096),
    "hello_timeout_ms": (100, 60_000),
    "http_idle_ms": (100, 3_600_000),
    "http_stuck_ms": (100, 3_600_000),
    "http_unread_max_bytes": (1_048_576, 1_073_741_824),
    "sockets_per_room_max": (1, 4_096),
    "rooms_max": (1, 4_096),
    "messages_burst_max": (64, 65_536),
    "messages_per_second_max": (64, 65_536),
    "hello_failures_burst_max": (1, 1_024),
    "hello_failures_per_second_max": (1, 1_024),
    "registrations_burst_max": (1, 4_096),
    "registrations_per_second_max": (1, 4_096),
    "calls_per_session_max": (1, 256),
    "calls_burst_max": (1, 4_096),
    "calls_per_second_max": (1, 4_096),
    "wasm_running_max": (1, 256),
    "wasm_waiting_max": (0, 4_096),
}


def _cap(field: str, least: int, most: int) -> Setting:
    (about,) = Limits.__annotations__[field].__metadata__
    return Setting(field, about.description, whole(least, most))


CAPS: dict[str, Setting] = {
    PREFIX + field.upper(): _cap(field, least, most) for field, (least, most) in BOUNDS.items()
}


def with_caps(fields: dict[str, Any]) -> dict[str, Any]:
    """Fields of `Settings`: the caps among them are now in `limits`."""
    caps = {name: value for name, value in fields.items() if name in BOUNDS}
    rest = {name: value for name, value in fields.items() if name not in BOUNDS}
    return rest | {"limits": structs.replace(LIMITS, **caps)}
