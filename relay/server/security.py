"""Who may ask: Host, Origin and Sec-Fetch-Site of every request, and the token.

Cookies are not used: another port of this machine would get them too.
"""

import hmac

from aiohttp import hdrs, web

from relay.protocol.refusals import Refusal, RefusalCode

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_BEARER = "Bearer "


class Guard:
    """Checks requests before a handler sees them."""

    def __init__(self, *, token: str, public_host: str | None = None) -> None:
        self._token = token.encode()
        self._public_host = public_host

    def change_token(self, token: str) -> bool:
        """Ask for this token from now on; False when it is the one of before."""
        changed = not hmac.compare_digest(token.encode(), self._token)
        self._token = token.encode()
        return changed

    def check_request(self, request: web.BaseRequest) -> None:
        """Host and Origin, before any upgrade. Raises: Refusal `host-refused`, `origin-refused`."""
        hosts = self._hosts(request)
        if request.headers.get(hdrs.HOST, "").lower() not in hosts:
            raise Refusal(RefusalCode.HOST_REFUSED, "this relay does not answer to that host name")
        origin = request.headers.get(hdrs.ORIGIN)
        if origin is not None and origin.lower() not in _origins(hosts):
            raise Refusal(RefusalCode.ORIGIN_REFUSED, "requests from that origin are refused")

    def check_api(self, request: web.BaseRequest) -> None:
        """Sec-Fetch-Site and the bearer token. Raises: Refusal."""
        if request.headers.get("Sec-Fetch-Site", "none") not in {"none", "same-origin"}:
            raise Refusal(RefusalCode.ORIGIN_REFUSED, "requests from other sites are refused")
        header = request.headers.get(hdrs.AUTHORIZATION)
        if header is None or not header.startswith(_BEARER):
            raise Refusal(
                RefusalCode.UNAUTHENTICATED_CALL, "send the token as Authorization: Bearer"
            )
        self.check_token(header.removeprefix(_BEARER))

    def check_token(self, token: str) -> None:
        """Compare in constant time. Raises: Refusal `bearer-refused`."""
        if not hmac.compare_digest(token.encode("utf-8", "surrogatepass"), self._token):
            raise Refusal(RefusalCode.BEARER_REFUSED, "the token is not this relay's")

    def _hosts(self, request: web.BaseRequest) -> set[str]:
        hosts = {f"{name}:{port}" for name in _LOOPBACK for port in [_port(request)]}
        if _port(request) == 80:
            hosts |= set(_LOOPBACK)
        if self._public_host is not None:
            hosts.add(self._public_host.lower())
        return hosts


def _port(request: web.BaseRequest) -> int:
    """The port on which the request really arrived."""
    address = request.transport.get_extra_info("sockname") if request.transport else None
    return int(address[1]) if address else 0


def _origins(hosts: set[str]) -> set[str]:
    return {f"{scheme}://{host}" for host in hosts for scheme in ("http", "https")}
