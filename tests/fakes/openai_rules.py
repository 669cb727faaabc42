"""What OpenAI's Realtime server refuses, and in which words; pure.

A `Problem` is the `error` object of an error event without the client's event id.
"""

import re
from base64 import b64decode
from binascii import Error as Base64Error
from typing import Any, NamedTuple

Json = dict[str, Any]
CALL_ID = re.compile(r"[a-zA-Z0-9_-]{1,32}")
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
APPEND_MAX_BYTES = 15 * 1024 * 1024

# Keys of each client event, besides `type` and `event_id`
EVENTS: dict[str, set[str]] = {
    "session.update": {"session"},
    "input_audio_buffer.append": {"audio"},
    "input_audio_buffer.commit": set(),
    "input_audio_buffer.clear": set(),
    "conversation.item.create": {"item", "previous_item_id"},
    "conversation.item.truncate": {"item_id", "content_index", "audio_end_ms"},
    "response.create": {"response"},
    "response.cancel": {"response_id"},
}
SESSION = {
    "type",
    "model",
    "output_modalities",
    "instructions",
    "audio",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "max_output_tokens",
    "truncation",
    "reasoning",
    "include",
    "tracing",
    "prompt",
}
AUDIO = {
    "input": {"format", "turn_detection", "transcription", "noise_reduction"},
    "output": {"format", "voice", "speed"},
}
TURN_DETECTION = {
    "server_vad": {
        "type",
        "threshold",
        "prefix_padding_ms",
        "silence_duration_ms",
        "create_response",
        "interrupt_response",
        "idle_timeout_ms",
    },
    "semantic_vad": {"type", "eagerness", "create_response", "interrupt_response"},
}
RESPONSE = {
    "conversation",
    "metadata",
    "instructions",
    "tools",
    "tool_choice",
    "output_modalities",
    "max_output_tokens",
    "input",
    "audio",
    "parallel_tool_calls",
}
TOOL = {"type", "name", "description", "parameters"}
ITEM = {
    "message": {"id", "type", "role", "content", "status"},
    "function_call_output": {"id", "type", "call_id", "output", "status"},
}
CONTENT = {
    "user": {"input_text", "input_audio"},
    "assistant": {"output_text"},
    "system": {"input_text"},
}


class Problem(NamedTuple):
    code: str
    message: str
    param: str | None = None


def unknown_key(given: Json, known: set[str], where: str = "") -> Problem | None:
    for key in given:
        if key not in known:
            param = f"{where}.{key}" if where else key
            return Problem("unknown_parameter", f"Unknown parameter: '{param}'.", param)
    return None


def check_event(event: Json) -> Problem | None:
    kind = event.get("type")
    if not isinstance(kind, str):
        return Problem("missing_required_parameter", "Missing required parameter: 'type'.", "type")
    if kind not in EVENTS:
        known = ", ".join(f"'{one}'" for one in EVENTS)
        return Problem(
            "invalid_value", f"Invalid value: '{kind}'. Supported values are: {known}.", "type"
        )
    return unknown_key(event, EVENTS[kind] | {"type", "event_id"})


def check_update(session: Any, before: Json, *, has_spoken: bool) -> Problem | None:
    if not isinstance(session, dict) or session.get("type") != "realtime":
        return Problem(
            "missing_required_parameter",
            "Missing required parameter: 'session.type'.",
            "session.type",
        )
    modalities = session.get("output_modalities", ["audio"])
    if problem := unknown_key(session, SESSION, "session"):
        return problem
    if modalities not in (["audio"], ["text"]):
        return Problem("invalid_value", "Only one modality.", "session.output_modalities")
    if session.get("model", before.get("model")) != before.get("model"):
        return Problem("invalid_value", "The model can't change.", "session.model")
    return _check_audio(session.get("audio", {}), before, has_spoken=has_spoken) or check_tools(
        session.get("tools", []), "session.tools"
    )


def _check_audio(audio: Json, before: Json, *, has_spoken: bool) -> Problem | None:
    if problem := unknown_key(audio, set(AUDIO), "session.audio"):
        return problem
    for side, known in AUDIO.items():
        fields, where = audio.get(side, {}), f"session.audio.{side}"
        if problem := unknown_key(fields, known, where):
            return problem
        form = fields.get("format", {"type": "audio/pcm", "rate": 24000})
        if not isinstance(form, dict) or form != {"type": "audio/pcm", "rate": 24000}:
            return Problem("invalid_value", "Unsupported format.", f"{where}.format")
    voice = audio.get("output", {}).get("voice")
    if has_spoken and voice not in {None, before["audio"]["output"].get("voice")}:
        return Problem(
            "cannot_update_voice", "Cannot update a conversation's voice.", "session.audio.output"
        )
    return _check_detection(audio.get("input", {}).get("turn_detection"))


def _check_detection(detection: Any) -> Problem | None:
    where = "session.audio.input.turn_detection"
    if detection is None:
        return None
    if not isinstance(detection, dict) or detection.get("type") not in TURN_DETECTION:
        return Problem("invalid_value", "Unknown turn detection.", f"{where}.type")
    return unknown_key(detection, TURN_DETECTION[detection["type"]], where)


def check_tools(tools: Any, where: str) -> Problem | None:
    if not isinstance(tools, list):
        return Problem("invalid_type", "Expected an array.", where)
    if len(tools) > 128:
        return Problem("array_above_max_length", "Too many tools.", where)
    names: set[str] = set()
    for position, tool in enumerate(tools):
        if problem := _check_tool(tool, names, f"{where}[{position}]"):
            return problem
        names.add(tool["name"])
    return None


def _check_tool(tool: Json, names: set[str], at: str) -> Problem | None:
    if problem := unknown_key(tool, TOOL, at):
        return problem
    if tool.get("type") != "function":
        return Problem("invalid_value", "Unknown tool type.", f"{at}.type")
    name, description = tool.get("name"), tool.get("description", "")
    if not isinstance(name, str) or not TOOL_NAME.fullmatch(name) or name in names:
        return Problem("invalid_value", "Invalid tool name.", f"{at}.name")
    if not isinstance(description, str) or len(description) > 1024:
        return Problem("string_above_max_length", "Description too long.", f"{at}.description")
    if not isinstance(tool.get("parameters"), dict) or tool["parameters"].get("type") != "object":
        return Problem("invalid_type", "Expected an object schema.", f"{at}.parameters")
    return None


def check_append(event: Json) -> bytes | Problem:
    try:
        audio = b64decode(event.get("audio", ""), validate=True)
    except (Base64Error, TypeError, ValueError):
        return Problem("invalid_base64", "The audio is not base64.", "audio")
    if len(audio) > APPEND_MAX_BYTES:
        return Problem("string_above_max_length", "The audio is over 15 MiB.", "audio")
    return audio


def check_item(item: Any, known_items: set[str]) -> Problem | None:
    kind = item.get("type") if isinstance(item, dict) else None
    if kind not in ITEM:
        return Problem("invalid_value", "Unknown item type.", "item.type")
    if problem := unknown_key(item, ITEM[kind], "item"):
        return problem
    item_id = item.get("id", "")
    if item_id in known_items or not isinstance(item_id, str) or len(item_id) > 32:
        return Problem("invalid_value", "The item's id is taken or too long.", "item.id")
    return _check_message(item) if kind == "message" else None


def _check_message(item: Json) -> Problem | None:
    role, content = item.get("role"), item.get("content")
    if role not in CONTENT or not isinstance(content, list) or not content:
        return Problem("invalid_value", "Unknown role, or no content.", "item.role")
    for part in content:
        if part.get("type") not in CONTENT[role] or not isinstance(part.get("text", ""), str):
            return Problem("invalid_value", "Content of that role.", "item.content[0].type")
    return None


def check_output(item: Json, issued: set[str]) -> Problem | None:
    call_id = item.get("call_id")
    if not isinstance(item.get("output"), str):
        return Problem("invalid_type", "Expected a string.", "item.output")
    if not isinstance(call_id, str) or not CALL_ID.fullmatch(call_id):
        return Problem("invalid_value", "Invalid call_id.", "item.call_id")
    if call_id not in issued:
        return Problem(
            "invalid_tool_call_id", f"Tool call ID '{call_id}' not found in conversation.", "item"
        )
    return None


def check_response(response: Any) -> Problem | None:
    if not isinstance(response, dict):
        return Problem("invalid_type", "Expected an object.", "response")
    metadata = response.get("metadata") or {}
    if len(metadata) > 16 or not all(isinstance(value, str) for value in metadata.values()):
        return Problem("invalid_type", "Metadata are up to 16 texts.", "response.metadata")
    return unknown_key(response, RESPONSE, "response")
