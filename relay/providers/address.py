"""Base URLs of providers, as people write them, made into what is dialled; pure."""

import ipaddress
from urllib.parse import urlsplit

from relay.protocol.refusals import Refusal, RefusalCode

_SCHEMES = {"https": "wss", "wss": "wss", "http": "ws", "ws": "ws"}


def websocket_base(url: str, setting: str) -> str:
    """The base as ws:// or wss://, without a slash at its end.

    Raises: Refusal `provider-unavailable`; unencrypted is for this machine only, and an address
    that carries a name, a password or a query is refused because it would be shown.
    """
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        raise _refusal(setting, "is not an address") from None
    scheme = _SCHEMES.get(parts.scheme.lower())
    if scheme is None or not parts.hostname:
        raise _refusal(setting, "must begin with wss:// or ws:// and name a host")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise _refusal(setting, "must have no name, password, query or fragment")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    place = host if port is None else f"{host}:{port}"
    base = f"{scheme}://{place}{parts.path.rstrip('/')}"
    if scheme == "ws" and not is_loopback(base):
        raise _refusal(setting, "must be wss:// unless it is on this machine")
    return base


def is_loopback(url: str) -> bool:
    """Whether an address is on this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _refusal(setting: str, why: str) -> Refusal:
    return Refusal(RefusalCode.PROVIDER_UNAVAILABLE, f"{setting} {why}")
