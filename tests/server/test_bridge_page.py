import re
from pathlib import Path

import pytest

from relay import assets
from relay.server.bridge_page import bridge_page, joined, sdk_script

SANDBOX = assets.STATIC / "sandbox"


def module(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def test_a_script_holds_each_module_once_after_what_it_imports(tmp_path: Path) -> None:
    module(tmp_path, "ground.js", "export const ground = 1;\n")
    module(
        tmp_path, "left.js", 'import { ground } from "./ground.js";\nexport const left = ground;\n'
    )
    main = module(
        tmp_path,
        "main.js",
        'import {\n  ground,\n} from "./ground.js";\nimport { left } from "./left.js";\n'
        "export function main() {\n  return ground + left;\n}\nexport { main as other };\n",
    )
    assert joined(main) == (
        "const ground = 1;\nconst left = ground;\nfunction main() {\n  return ground + left;\n}\n"
    )


def test_the_page_is_whole_and_its_scripts_can_not_end_it() -> None:
    page = bridge_page(SANDBOX)
    assert "/*{{" not in page
    assert page.count("</script") == 1
    assert page.count("<script") == page.count("<script type=") + page.count("<script>${")
    assert not re.search(r"^(import|export) ", page, re.MULTILINE)


def test_the_sdk_is_one_classic_script_with_a_place_for_the_nonce() -> None:
    script = sdk_script(SANDBOX)
    assert script.count('"{{boot}}"') == 1
    assert not re.search(r"^(import|export) ", script, re.MULTILINE)
    assert "</script" not in script


@pytest.mark.parametrize("name", ["contract.js", "mini-app-bridge.js", "mini-app-sdk.js"])
def test_no_name_is_declared_twice_in_one_script(name: str) -> None:
    text = joined(SANDBOX / name)
    declared = re.findall(r"^(?:async )?(?:function|class|const|let) (\w+)", text, re.MULTILINE)
    assert len(declared) == len(set(declared))
