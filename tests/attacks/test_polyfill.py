"""An app that brings the public WebMCP polyfill along finds the room's own context, and works.

The package is fetched by npm when the tests run; nothing of it is kept in the project.
"""

import base64
import json
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from scripts.attack_lab.lab import Lab

PACKAGE = "@mcp-b/webmcp-polyfill@5.1.0"
DIGEST = (
    "sha512-KL09hniFssPY8HBO3qzurWPqm+1JYRwV3wx6x2XSySgo+6BL1XHGs"
    "HGIoAO7U9zzigv7TA5keNBoZ+3P1jq18g=="
)
NPM_MAX_S = 60.0
# What the app does after the polyfill has been started; `before` is what it found
APP = """
const context = document.modelContext;
const removal = new AbortController();
await context.registerTool({
  name: "polyfilled_add",
  description: "Adds two numbers",
  inputSchema: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
  },
  execute: async ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }] }),
});
await context.registerTool({
  name: "polyfilled_gone",
  description: "Is withdrawn at once",
  execute: () => "still here",
}, { signal: removal.signal });
removal.abort();
await context.registerTool({
  name: "report",
  description: "What the app saw",
  execute: async () => ({
    same: context === before && context instanceof ModelContext,
    names: (await context.getTools()).map(({ name }) => name),
  }),
});
"""

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def polyfill(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package's `dist` folder."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed, so the polyfill can't be fetched")
    folder = tmp_path_factory.mktemp("polyfill")
    pack = [npm, "pack", PACKAGE, "--json", "--ignore-scripts", "--fetch-retries=0"]
    try:
        told = subprocess.run(
            pack, cwd=folder, capture_output=True, text=True, timeout=NPM_MAX_S, check=True
        )
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        pytest.skip(f"npm can't reach {PACKAGE} from here")
    (packed,) = json.loads(told.stdout)
    assert packed["integrity"] == DIGEST, "the package is not the one that was looked at"
    with tarfile.open(folder / packed["filename"]) as archive:
        safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # since 3.11.4
        archive.extractall(folder, **safely)  # type: ignore[arg-type]
    return folder / "package" / "dist"


def as_script(dist: Path) -> str:
    """As a page that loads the standalone build."""
    build = (dist / "index.iife.js").read_text(encoding="utf-8")
    return (
        f"<script>const before = document.modelContext</script><script>{build}</script>"
        f'<script type="module">{APP}</script>'
    )


def as_modules(dist: Path) -> str:
    """As a bundler inlines the modules, started by the app itself."""
    schema = base64.b64encode((dist / "schema.js").read_bytes()).decode()
    module = (dist / "index.js").read_text(encoding="utf-8")
    assert module.count('"./schema.js"') == 1
    module = module.replace('"./schema.js"', f'"data:text/javascript;base64,{schema}"')
    return (
        f'<script type="module">{module}\nconst before = document.modelContext;\n'
        f"initializeWebMCPPolyfill();\n{APP}</script>"
    )


@pytest.mark.parametrize("bundled", [as_script, as_modules])
def test_an_app_that_bundles_the_polyfill_runs(
    lab: Lab, polyfill: Path, bundled: Callable[[Path], str]
) -> None:
    html = f"<!doctype html><title>polyfilled</title>{bundled(polyfill)}".encode()
    seen = lab.run(html, call=("report", {}))
    assert seen.contained(), seen.as_json()
    assert seen.toasts == []
    assert seen.result["result"] == {"same": True, "names": ["polyfilled_add", "report"]}
    added = lab.run(html, call=("polyfilled_add", {"a": 2, "b": 3}))
    assert added.tools == ["polyfilled_add", "report"]
    assert added.result["result"] == "5"
    refused = lab.run(html, call=("polyfilled_add", {"a": "2", "b": 3}))
    assert refused.result["refused"] == "invalid-argument-type"
