"""What can be set: each field of `Settings`, its default, its variable and its kind."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import Struct

from relay.protocol.limits import LIMITS, Limits
from relay.providers.secret import Secret
from relay.settings.kinds import key, language, one_of, switch, token, whole

PREFIX = "VOICEBOX_"


class Settings(Struct, frozen=True, kw_only=True):
    """One process's settings; a field `x` is read from `VOICEBOX_X` (see `ENVIRONMENT`)."""

    host: str = "127.0.0.1"
    port: int = 8787
    allow_remote: bool = False
    public_host: str | None = None
    token: str | None = None
    provider: str = "embedded"
    wasm_shelf_dir: Path | None = None
    workspace: Path | None = None
    extensions_dir: Path | None = None
    sandbox_homes: Path | None = None
    script: Path | None = None
    whisper_model: Path | None = None
    language: str = "en"
    piper_voice: Path | None = None
    end_of_turn_ms: int = 480
    openai_api_key: Secret | None = None
    openai_base_url: str | None = None
    openai_model: str | None = None
    openai_voice: str | None = None
    openai_vad: str | None = None
    openai_transcription: str | None = None
    gemini_api_key: Secret | None = None
    gemini_base_url: str | None = None
    gemini_model: str | None = None
    gemini_voice: str | None = None
    gemini_vad: str | None = None
    instructions: str | None = None
    frame_args: bool = False
    log_level: str = "info"
    log_json: bool = False
    limits: Limits = LIMITS
    state_dir: Path
    home: Path


class Setting(Struct, frozen=True):
    """One environment variable: the field that it fills, what it means, how its text is read."""

    field: str
    meaning: str
    read: Callable[[str], Any] = str


ENVIRONMENT: dict[str, Setting] = {
    "VOICEBOX_HOST": Setting("host", "Address to listen on; loopback unless remote is allowed."),
    "VOICEBOX_PORT": Setting("port", "Port to listen on; 0 takes a free one.", whole(0, 65_535)),
    "VOICEBOX_ALLOW_REMOTE": Setting(
        "allow_remote", "1 allows a host that is not loopback.", switch
    ),
    "VOICEBOX_PUBLIC_HOST": Setting(
        "public_host", "Host (with its port, if any) by which remote people reach the relay."
    ),
    "VOICEBOX_TOKEN": Setting("token", "The token, instead of the one in the state folder.", token),
    "VOICEBOX_LIVE_PROVIDER": Setting(
        "provider", "The live model: embedded, openai, gemini or script."
    ),
    "VOICEBOX_WASM_SHELF_DIR": Setting("wasm_shelf_dir", "Folder of the WebAssembly shelf.", Path),
    "VOICEBOX_WORKSPACE": Setting("workspace", "Folder of your own mini-apps and pages.", Path),
    "VOICEBOX_EXTENSIONS_DIR": Setting(
        "extensions_dir", "Folder whose `mini-apps` folder keeps the saved mini-apps.", Path
    ),
    "VOICEBOX_SANDBOX_HOMES": Setting(
        "sandbox_homes", "Folder of sandboxes, each a folder whose pages can be launched.", Path
    ),
    "VOICEBOX_SCRIPT": Setting("script", "JSON file that the script provider plays.", Path),
    "VOICEBOX_WHISPER_MODEL": Setting(
        "whisper_model", "Folder of a CTranslate2 Whisper model for the embedded voice.", Path
    ),
    "VOICEBOX_LANGUAGE": Setting(
        "language", "Language that a multilingual Whisper model hears, such as de.", language
    ),
    "VOICEBOX_PIPER_VOICE": Setting(
        "piper_voice", "Piper voice (.onnx) with which the embedded voice speaks.", Path
    ),
    "VOICEBOX_END_OF_TURN_MS": Setting(
        "end_of_turn_ms",
        "Silence that ends a spoken turn with the embedded voice.",
        whole(250, 3_000),
    ),
    "OPENAI_API_KEY": Setting("openai_api_key", "Key for the openai provider.", key),
    "VOICEBOX_OPENAI_BASE_URL": Setting("openai_base_url", "Server that speaks OpenAI Realtime."),
    "VOICEBOX_OPENAI_MODEL": Setting("openai_model", "Model of the openai provider."),
    "VOICEBOX_OPENAI_VOICE": Setting("openai_voice", "Voice of the openai provider."),
    "VOICEBOX_OPENAI_VAD": Setting(
        "openai_vad",
        "server_vad, semantic_vad or none.",
        one_of("server_vad", "semantic_vad", "none"),
    ),
    "VOICEBOX_OPENAI_TRANSCRIPTION": Setting(
        "openai_transcription", "Model that writes down what the person said."
    ),
    "GEMINI_API_KEY": Setting("gemini_api_key", "Key for the gemini provider.", key),
    "VOICEBOX_GEMINI_BASE_URL": Setting("gemini_base_url", "Server that speaks Gemini Live."),
    "VOICEBOX_GEMINI_MODEL": Setting("gemini_model", "Model of the gemini provider."),
    "VOICEBOX_GEMINI_VOICE": Setting("gemini_voice", "Voice of the gemini provider."),
    "VOICEBOX_GEMINI_VAD": Setting("gemini_vad", "auto or none.", one_of("auto", "none")),
    "VOICEBOX_INSTRUCTIONS": Setting("instructions", "Added to what remote models are told."),
    "VOICEBOX_FRAME_ARGS": Setting("frame_args", "1 puts arguments into tool frames.", switch),
    "VOICEBOX_LOG_LEVEL": Setting(
        "log_level", "debug, info, warning or error.", one_of("debug", "info", "warning", "error")
    ),
    "VOICEBOX_LOG_JSON": Setting("log_json", "1 writes the log as JSON lines.", switch),
    "VOICEBOX_STATE_DIR": Setting(
        "state_dir", "Folder of the token and of what is remembered.", Path
    ),
}
