import json
from pathlib import Path

from tests.cli.conftest import Run, Running, Start

DICE = "<title>Dice</title><p>six</p>"


def dice(folder: Path) -> str:
    file = folder / "dice.html"
    file.write_text(DICE, encoding="utf-8")
    return str(file)


def test_apps_are_listed_one_a_line_and_as_json(run: Run, relay: Running) -> None:
    done = run("apps", "list", relay=relay)
    assert done.code == 0
    assert "app_scoreboard  (app, examples)  Scoreboard  scoreboard.html" in done.out.splitlines()
    told = json.loads(run("apps", "list", "--json", relay=relay).out)
    assert told["count"] == len(told["miniApps"])


def test_one_is_shown_by_any_of_its_names(run: Run, relay: Running) -> None:
    shown = json.loads(run("apps", "show", "scoreboard.html", relay=relay).out)
    assert (shown["appId"], shown["kind"]) == ("app_scoreboard", "app")
    assert "html" not in shown
    assert "set_score" in run("apps", "show", "Scoreboard", "--html", relay=relay).out
    assert run("apps", "show", "nothing", relay=relay).is_one_line_of_error("mini-app-not-found")


def test_a_file_is_saved_saved_anew_and_deleted(run: Run, start: Start, tmp_path: Path) -> None:
    relay = start()
    file = dice(tmp_path)
    done = run("apps", "save", file, relay=relay)
    assert done.out == "created  app_dice  (app, workspace)  Dice  dice.html\n"
    done = run("apps", "save", file, "--title", "Two dice", relay=relay)
    assert done.out == "updated  app_dice  (app, workspace)  Two dice  dice.html\n"
    done = run("apps", "save", file, "--id", "app_dice", relay=relay)
    assert done.out.startswith("updated  app_dice")
    done = run("apps", "save", file, "--as", "other.html", relay=relay)
    assert done.out.startswith("created  app_other")
    assert run("apps", "show", "dice", "--html", relay=relay).out == DICE + "\n"
    done = run("apps", "delete", "dice.html", "--yes", relay=relay)
    assert (done.code, done.out.split("  ")[:2]) == (0, ["deleted", "app_dice"])
    assert run("apps", "show", "app_dice", relay=relay).code == 1


def test_deleting_without_a_terminal_needs_yes(run: Run, start: Start, tmp_path: Path) -> None:
    relay = start()
    run("apps", "save", dice(tmp_path), relay=relay)
    assert run("apps", "delete", "dice", relay=relay).is_one_line_of_error("--yes")
    assert run("apps", "show", "dice", relay=relay).code == 0
    done = run("apps", "delete", "scoreboard", "--yes", relay=relay)
    assert done.is_one_line_of_error("mini-app-read-only")


def test_what_can_not_be_saved_is_one_line(run: Run, relay: Running, tmp_path: Path) -> None:
    missing = run("apps", "save", str(tmp_path / "none.html"), relay=relay)
    assert missing.is_one_line_of_error("none.html")
    empty = tmp_path / "empty.html"
    empty.touch()
    assert run("apps", "save", str(empty), relay=relay).is_one_line_of_error("missing-html")
    done = run("apps", "save", dice(tmp_path), "--as", "../dice.html", relay=relay)
    assert done.is_one_line_of_error("outside-root")


def test_launching_needs_a_page(run: Run, relay: Running) -> None:
    done = run("apps", "launch", "scoreboard", relay=relay)
    assert done.is_one_line_of_error("mini-app-unreachable")


def test_where_names_the_folders_without_a_relay(run: Run, tmp_path: Path) -> None:
    lines = run("apps", "where").out.splitlines()
    folders = dict(line.split(maxsplit=1) for line in lines if line.startswith("workspace"))
    assert folders == {"workspace": f"{tmp_path}/.local/share/voicebox/workspace"}
    assert len(lines) == 4
