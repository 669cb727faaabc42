"""The real relay, with a log of every request that reaches it.

    python -m scripts.attack_lab.serve REQUESTS_LOG

Reads VOICEBOX_* like `voicebox serve` and prints the same `listening` line.
"""

import asyncio
import json
import os
import sys
from pathlib import Path

from aiohttp import web

from relay.logs import configure_logs
from relay.server.app import make_app
from relay.settings import ensure_token, read_settings

LOGGED = ("Origin", "Sec-Fetch-Site", "Sec-Fetch-Dest", "Host")


async def serve(log: Path) -> None:
    """Serve until the process is ended."""
    settings = read_settings(os.environ, provider="script")
    configure_logs(level="error", as_json=False)
    app = make_app(settings, token=ensure_token(settings))
    lines = log.open("a", encoding="utf-8", buffering=1)

    async def record(request: web.Request, response: web.StreamResponse) -> None:
        headers = {name: request.headers[name] for name in LOGGED if name in request.headers}
        seen = {"method": request.method, "path": request.path_qs, "status": response.status}
        lines.write(json.dumps(seen | headers) + "\n")

    app.on_response_prepare.append(record)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, settings.host, 0).start()
    print(f"listening http://{settings.host}:{runner.addresses[0][1]}", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1])))
