from pathlib import Path

import pytest
from msgspec import structs

from relay.protocol.limits import LIMITS
from relay.settings import (
    CAPS,
    ENVIRONMENT,
    TOKEN_PATTERN,
    Settings,
    SettingsError,
    ensure_token,
    load_token,
    mini_app_places,
    read_settings,
    rotate_token,
    shelf_folder,
    token_path,
)
from relay.settings.caps import BOUNDS

TOKEN = "vbx_" + "0123456789abcdef" * 3


def settings(folder: Path, **more: object) -> Settings:
    return read_settings({"HOME": str(folder)}, **more)


def test_without_anything_said_the_relay_is_on_loopback_and_offline(tmp_path: Path) -> None:
    plain = settings(tmp_path)
    assert (plain.host, plain.port, plain.provider) == ("127.0.0.1", 8787, "embedded")
    assert plain.state_dir == tmp_path / ".local/state/voicebox"
    assert (plain.allow_remote, plain.frame_args, plain.log_json) == (False, False, False)


def test_a_flag_wins_over_the_environment_which_wins_over_the_default(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "VOICEBOX_PORT": "1", "VOICEBOX_LIVE_PROVIDER": "script"}
    read = read_settings(environ, port=2, provider=None)
    assert (read.port, read.provider, read.host) == (2, "script", "127.0.0.1")


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("VOICEBOX_HOST", "::1", "::1"),
        ("VOICEBOX_PORT", "0", 0),
        ("VOICEBOX_PORT", "65535", 65_535),
        ("VOICEBOX_ALLOW_REMOTE", "1", True),
        ("VOICEBOX_PUBLIC_HOST", "relay.test", "relay.test"),
        ("VOICEBOX_TOKEN", TOKEN, TOKEN),
        ("VOICEBOX_LIVE_PROVIDER", "script", "script"),
        ("VOICEBOX_WASM_SHELF_DIR", "/a/shelf", Path("/a/shelf")),
        ("VOICEBOX_SCRIPT", "/a/script.json", Path("/a/script.json")),
        ("VOICEBOX_WHISPER_MODEL", "/a/model", Path("/a/model")),
        ("VOICEBOX_LANGUAGE", "de", "de"),
        ("VOICEBOX_PIPER_VOICE", "/a/joe.onnx", Path("/a/joe.onnx")),
        ("VOICEBOX_END_OF_TURN_MS", "700", 700),
        ("VOICEBOX_FRAME_ARGS", "0", False),
        ("VOICEBOX_LOG_LEVEL", "debug", "debug"),
        ("VOICEBOX_LOG_JSON", "1", True),
        ("VOICEBOX_STATE_DIR", "/a/state", Path("/a/state")),
    ],
)
def test_a_variable_fills_its_field(
    name: str, value: str, expected: object, tmp_path: Path
) -> None:
    read = read_settings({"HOME": str(tmp_path), name: value})
    assert getattr(read, ENVIRONMENT[name].field) == expected


@pytest.mark.parametrize("name", ENVIRONMENT | CAPS)
def test_an_empty_variable_counts_as_unset(name: str, tmp_path: Path) -> None:
    assert read_settings({"HOME": str(tmp_path), name: ""}) == settings(tmp_path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("VOICEBOX_PORT", "65536"),
        ("VOICEBOX_PORT", "-1"),
        ("VOICEBOX_PORT", "80a"),
        ("VOICEBOX_PORT", "٣"),
        ("VOICEBOX_PORT", "9" * 5_000),
        ("VOICEBOX_FRAME_ARGS", "yes"),
        ("VOICEBOX_HOST", "0.0.0.0"),
        ("VOICEBOX_TOKEN", "secret"),
        ("VOICEBOX_TOKEN", TOKEN + "0"),
        ("VOICEBOX_LOG_LEVEL", "loud"),
        ("VOICEBOX_LANGUAGE", "German"),
        ("VOICEBOX_END_OF_TURN_MS", "100"),
        ("VOICEBOX_PROT", "1"),
    ],
)
def test_a_bad_value_or_name_is_one_sentence(name: str, value: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        read_settings({"HOME": str(tmp_path), name: value})
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("name", CAPS)
def test_a_cap_changes_its_limit_and_no_other(name: str, tmp_path: Path) -> None:
    field = CAPS[name].field
    for bound in BOUNDS[field]:
        read = read_settings({"HOME": str(tmp_path), name: str(bound)}).limits
        assert read == structs.replace(LIMITS, **{field: bound})


@pytest.mark.parametrize("name", CAPS)
def test_a_cap_out_of_its_range_is_refused_by_name(name: str, tmp_path: Path) -> None:
    least, most = BOUNDS[CAPS[name].field]
    for text in (str(least - 1), str(most + 1), "many", "1e3", " 1"):
        with pytest.raises(SettingsError, match=f"{name} must be a number from {least} to {most}"):
            read_settings({"HOME": str(tmp_path), name: text})


def test_the_default_of_a_cap_is_in_its_range() -> None:
    for field, (least, most) in BOUNDS.items():
        assert least <= getattr(LIMITS, field) <= most, field


def test_an_unknown_name_is_told_with_the_nearest_known_one(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no setting VOICEBOX_PROT; did you mean VOICEBOX_PORT"):
        read_settings({"HOME": str(tmp_path), "VOICEBOX_PROT": "1"})


@pytest.mark.parametrize("port", [-1, 65_536])
def test_a_flag_is_checked_like_a_variable(port: int, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="port must be"):
        settings(tmp_path, port=port)


def test_a_refused_token_is_not_repeated(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        settings(tmp_path, token="vbx_nearly")
    assert "nearly" not in str(caught.value)


def test_a_host_that_is_not_loopback_has_to_be_meant(tmp_path: Path) -> None:
    assert settings(tmp_path, host="0.0.0.0", allow_remote=True).host == "0.0.0.0"


def test_without_home_the_user_database_says_where_home_is() -> None:
    assert read_settings({}).home == read_settings({"HOME": ""}).home
    assert read_settings({}).home.is_absolute()


def test_the_state_folder_follows_the_desktops_convention(tmp_path: Path) -> None:
    read = read_settings({"HOME": "/h", "XDG_STATE_HOME": str(tmp_path)})
    assert token_path(read) == tmp_path / "voicebox" / "token"


def test_the_first_start_makes_a_token_that_only_its_owner_can_read(tmp_path: Path) -> None:
    place = settings(tmp_path)
    token = ensure_token(place)
    assert TOKEN_PATTERN.fullmatch(token)
    assert token_path(place).stat().st_mode & 0o777 == 0o600
    assert place.state_dir.stat().st_mode & 0o777 == 0o700
    assert ensure_token(place) == load_token(place) == token
    assert [file.name for file in place.state_dir.iterdir()] == ["token"]


def test_rotating_makes_another_token(tmp_path: Path) -> None:
    place = settings(tmp_path)
    first = ensure_token(place)
    second = rotate_token(place)
    assert second != first
    assert load_token(place) == second
    assert token_path(place).stat().st_mode & 0o777 == 0o600


def test_a_token_that_is_set_needs_no_file(tmp_path: Path) -> None:
    place = settings(tmp_path, token=TOKEN)
    assert ensure_token(place) == load_token(place) == TOKEN
    assert not token_path(place).exists()


def test_a_missing_token_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="voicebox serve"):
        load_token(settings(tmp_path))


@pytest.mark.parametrize("content", [b"", b"vbx_", b"\xff\xfe", b"nonsense\n"])
def test_a_broken_token_file_is_told_and_never_shown(content: bytes, tmp_path: Path) -> None:
    place = settings(tmp_path)
    place.state_dir.mkdir(parents=True)
    token_path(place).write_bytes(content)
    with pytest.raises(SettingsError) as caught:
        ensure_token(place)
    assert "nonsense" not in str(caught.value)
    assert str(token_path(place)) in str(caught.value)


def test_a_state_folder_that_can_not_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    place = settings(tmp_path, state_dir=tmp_path / "file")
    with pytest.raises(SettingsError, match="can't be written"):
        ensure_token(place)


def test_the_shelf_is_the_one_set_else_the_persons_own_else_the_shipped_one(
    tmp_path: Path,
) -> None:
    shipped, own = tmp_path / "shipped", tmp_path / ".isocan" / "modules" / "wasm-tools"
    assert shelf_folder(settings(tmp_path), shipped=shipped) == shipped
    own.mkdir(parents=True)
    assert shelf_folder(settings(tmp_path), shipped=shipped) == shipped
    (own / "manifest.json").write_text("{}")
    assert shelf_folder(settings(tmp_path), shipped=shipped) == own
    chosen = settings(tmp_path, wasm_shelf_dir=tmp_path / "chosen")
    assert shelf_folder(chosen, shipped=shipped) == tmp_path / "chosen"


def test_mini_apps_lie_in_the_folders_set_else_in_the_persons_data(tmp_path: Path) -> None:
    shipped = tmp_path / "shipped"
    plain = mini_app_places(settings(tmp_path), shipped=shipped)
    assert plain.workspace == tmp_path / ".local/share/voicebox/workspace"
    assert plain.shelf == tmp_path / ".local/share/voicebox/extensions/mini-apps"
    assert plain.sandbox_homes == tmp_path / "sandbox-homes"
    assert plain.examples == shipped
    environ = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")}
    there = mini_app_places(read_settings(environ), shipped=shipped)
    assert there.workspace == tmp_path / "data/voicebox/workspace"
    assert there.shelf == tmp_path / "data/voicebox/extensions/mini-apps"
    environ |= {"VOICEBOX_WORKSPACE": "/w", "VOICEBOX_EXTENSIONS_DIR": "/e"}
    environ |= {"VOICEBOX_SANDBOX_HOMES": "boxes"}
    said = mini_app_places(read_settings(environ), shipped=shipped)
    assert (said.workspace, said.shelf) == (Path("/w"), Path("/e/mini-apps"))
    assert said.sandbox_homes == Path.cwd() / "boxes"
