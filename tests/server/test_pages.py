import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from yarl import URL

from relay import assets
from relay.server.bridge_page import bridge_page, joined, sdk_script
from relay.server.pages import Pages
from tests.server.conftest import Relay

REFERENCE = re.compile(r'(?:href|src)="(/[^"]*)"')
IMPORT = re.compile(r'^(?:import|export) [^;"]*from "([^"]+)"|^import "([^"]+)"', re.MULTILINE)
DECLARED = re.compile(r"^(?:async )?(?:function|class|const|let) (\w+)", re.MULTILINE)
MODULE_WORDS = re.compile(r"^(?:import|export)\b", re.MULTILINE)
SANDBOX = assets.STATIC / "sandbox"


async def served(relay: Relay, path: str) -> tuple[Any, str]:
    async with relay.client.get(path) as response:
        assert response.status == 200, path
        return response.headers, await response.text()


@pytest.mark.parametrize("path", ["/", "/dashboard"])
async def test_a_page_may_run_and_reach_nothing_but_its_own(relay: Relay, path: str) -> None:
    headers, page = await served(relay, path)
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["Cache-Control"] == "no-store"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert headers["Referrer-Policy"] == "no-referrer"
    policy = headers["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert "microphone=(self)" in headers["Permissions-Policy"]
    assert "camera=()" in headers["Permissions-Policy"]
    assert "Set-Cookie" not in headers
    assert "vbx_" not in page
    assert not re.search(r"<script(?![^>]*src=)|\son\w+=|style=", page), "nothing stands inline"


@pytest.mark.parametrize("path", ["/", "/dashboard"])
async def test_whatever_a_page_loads_is_there(relay: Relay, path: str) -> None:
    _, page = await served(relay, path)
    waiting, seen = set(REFERENCE.findall(page)) - {path}, set()
    assert waiting
    while waiting:
        address = waiting.pop()
        seen.add(address)
        headers, text = await served(relay, address)
        if address.endswith(".js"):
            assert headers["Content-Type"] == "text/javascript; charset=utf-8", address
            here = f"http://x{address}"
            found = {"".join(groups) for groups in IMPORT.findall(text)}
            waiting |= {URL(here).join(URL(name)).path for name in found} - seen
    assert len(seen) > 3


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A static folder with what should and what should not be served."""
    root = tmp_path.resolve() / "static"
    (root / "deep").mkdir(parents=True)
    secret = tmp_path / "secret.js"
    for file in (secret, root / "a.js", root / "deep/b.css", root / ".hidden.js", root / "c.py"):
        file.write_text("text")
    (root / "link.js").symlink_to(secret)
    (root / "linked").symlink_to(tmp_path)
    (root / "folder.js").mkdir()
    return root


@pytest.fixture
async def folder(
    files: Path, aiohttp_client: Callable[..., Awaitable[TestClient[Any, Any]]]
) -> TestClient[Any, Any]:
    app = web.Application()
    app.router.add_get("/static/{path:.+}", Pages(files).named)
    return await aiohttp_client(TestServer(app))


@pytest.mark.parametrize("path", ["a.js", "deep/b.css", "deep/%62.css"])
async def test_a_plain_file_is_served(folder: TestClient[Any, Any], path: str) -> None:
    async with folder.get(URL(f"/static/{path}", encoded=True)) as response:
        assert response.status == 200
        assert await response.text() == "text"


@pytest.mark.parametrize(
    "path",
    [
        ".hidden.js",
        "c.py",
        "link.js",
        "linked/secret.js",
        "folder.js",
        "deep",
        "deep/",
        "deep//b.css",
        "deep/%2e%2e/a.js",
        "%2e%2e/secret.js",
        "..%5csecret.js",
        "%2fetc%2fpasswd",
        "a.js%00",
        "a.js/",
        "gone.js",
        "x" * 5_000 + ".js",
    ],
)
async def test_nothing_else_is_served(folder: TestClient[Any, Any], path: str) -> None:
    async with folder.get(URL(f"/static/{path}", encoded=True)) as response:
        assert response.status == 404, path


async def test_the_bridge_holds_its_scripts_and_loads_none(relay: Relay) -> None:
    headers, page = await served(relay, "/mini-app-bridge.html")
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    policy = dict(part.split(" ", 1) for part in headers["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == policy["frame-src"] == "'none'"
    assert policy["frame-ancestors"] == "'self'"
    assert "http" not in " ".join(policy.values())
    assert headers["Connection-Allowlist"] == "()"
    assert "microphone=()" in headers["Permissions-Policy"]
    assert page == await asyncio.to_thread(bridge_page, SANDBOX)
    assert len(re.findall(r"^<script\b", page.lower(), re.MULTILINE)) == 1
    assert page.lower().count("</script") == 1
    assert not REFERENCE.findall(page)
    assert not MODULE_WORDS.findall(page), "an inline script that imports would load something"


async def test_what_is_shown_to_read_is_what_runs(relay: Relay) -> None:
    _, page = await served(relay, "/mini-app-bridge.html")
    headers, bridge = await served(relay, "/mini-app-bridge.js")
    assert headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert bridge.replace("</script", "<\\/script") in page
    _, sdk = await served(relay, "/mini-app-sdk.js")
    assert sdk == await asyncio.to_thread(sdk_script, SANDBOX)


@pytest.mark.parametrize("name", ["contract.js", "mini-app-bridge.js", "mini-app-sdk.js"])
def test_names_of_one_script_do_not_collide(name: str) -> None:
    text = joined(SANDBOX / name)
    assert not MODULE_WORDS.findall(text)
    names = Counter(DECLARED.findall(text))
    assert names
    assert [name for name, times in names.items() if times > 1] == []


def test_a_module_is_joined_once_and_after_what_it_needs(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "base.js").write_text("export const base = 1;\n")
    (tmp_path / "deep/left.js").write_text(
        'import { base } from "../base.js";\nexport function left() { return base; }\n'
    )
    (tmp_path / "main.js").write_text(
        'import { left } from "./deep/left.js";\nimport { base } from "./base.js";\n'
        "class Main {}\nexport { Main };\n"
    )
    assert joined(tmp_path / "main.js") == (
        "const base = 1;\nfunction left() { return base; }\nclass Main {}\n"
    )


def test_no_text_of_a_script_ends_the_script(tmp_path: Path) -> None:
    page = "<script>/*{{contract}}*/ /*{{bridge}}*/ run(/*{{sdk}}*/)</script>"
    (tmp_path / "mini-app-bridge.html").write_text(page)
    (tmp_path / "contract.js").write_text('const a = "</script><b>";\n')
    (tmp_path / "mini-app-bridge.js").write_text("const b = 1;\n")
    (tmp_path / "mini-app-sdk.js").write_text('const c = "</script>\\u2028";\n')
    made = bridge_page(tmp_path)
    assert made.count("</script") == 1
    assert made.startswith('<script>const a = "<\\/script><b>";')
    assert made.endswith('\\n}})();\\n")</script>'.replace("}}", "}"))
