"""Response headers: what each kind of page may do.

Source: measured in Chromium 156; a srcdoc frame inherits the bridge's policies, so the
bridge's headers are the mini-apps' network lock.
"""

from aiohttp import hdrs, web

_OFF = (
    "accelerometer", "aria-notify", "autoplay", "browsing-topics", "camera", "deferred-fetch",
    "deferred-fetch-minimal", "display-capture", "encrypted-media", "focus-without-user-activation",
    "fullscreen", "gamepad", "geolocation", "gyroscope", "hid", "identity-credentials-get",
    "idle-detection", "interest-cohort", "local-fonts", "magnetometer",
    "media-playback-while-not-visible", "midi", "payment", "picture-in-picture",
    "private-state-token-issuance", "private-state-token-redemption",
    "publickey-credentials-create", "publickey-credentials-get", "screen-wake-lock", "serial",
    "storage-access", "sync-xhr", "tools", "unload", "usb", "window-management",
    "xr-spatial-tracking",
)  # fmt: skip
_ALL_OFF = ", ".join(f"{feature}=()" for feature in ("microphone", *_OFF))
_ROOM_FEATURES = ", ".join(
    ["microphone=(self)", *(f"{feature}=()" for feature in _OFF if feature != "autoplay")]
)
_BRIDGE_CSP = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval' blob: data:; "
    "style-src 'unsafe-inline'; img-src data: blob:; media-src data: blob:; font-src data:; "
    "connect-src data: blob:; worker-src blob:; frame-src 'none'; object-src 'none'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
_ROOM_CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self' {socket}; "
    "img-src 'self' data:; font-src 'self'; frame-src 'self'; worker-src 'self'; "
    "media-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_LOADED_CSP = "default-src 'none'"
# What a page loads is no document: only its type and its origin bind it
_LOADED_TYPES = {"text/css", "text/javascript"}
_STATIC = "/static/"
BRIDGE_PATH = "/mini-app-bridge.html"


async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
    """An `on_response_prepare` signal: no answer leaves without its headers."""
    write_headers(request, response)


def write_headers(request: web.BaseRequest, response: web.StreamResponse) -> None:
    """Say what the answer may do; also where no route, and so no signal, has seen the request."""
    headers = response.headers
    headers["X-Content-Type-Options"] = "nosniff"
    headers["Referrer-Policy"] = "no-referrer"
    headers["Cross-Origin-Resource-Policy"] = "same-origin"
    kept = request.path.startswith(_STATIC) and response.status in {200, 304}
    headers[hdrs.CACHE_CONTROL] = "no-cache" if kept else "no-store"
    if kept and response.content_type in _LOADED_TYPES:
        headers["Content-Security-Policy"] = _LOADED_CSP
        return
    if request.path == BRIDGE_PATH:
        headers["Content-Security-Policy"] = _BRIDGE_CSP
        headers["Connection-Allowlist"] = "()"
        headers["Permissions-Policy"] = _ALL_OFF
        return
    # a refused Host header is not echoed
    host = request.host if response.status < 400 else ""
    named = host and not host.startswith("[")  # a policy can't name IPv6; 'self' covers it
    socket = f"ws://{host} wss://{host}" if named else ""
    headers["Content-Security-Policy"] = _ROOM_CSP.format(socket=socket)
    headers["Permissions-Policy"] = _ROOM_FEATURES
    headers["Cross-Origin-Opener-Policy"] = "same-origin"
