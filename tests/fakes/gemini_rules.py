"""What Gemini's Live server refuses: one table of models, one closed set of fields; pure."""

import re
from typing import Any, NamedTuple

Json = dict[str, Any]
CLIENT_FIELDS = ("setup", "clientContent", "realtimeInput", "toolResponse", "contextUpdate")
SETUP = {
    "model",
    "generationConfig",
    "systemInstruction",
    "tools",
    "realtimeInputConfig",
    "sessionResumption",
    "contextWindowCompression",
    "inputAudioTranscription",
    "outputAudioTranscription",
    "historyConfig",
    "proactivity",
    "safetySettings",
    "labels",
}
GENERATION = {"responseModalities", "speechConfig", "thinkingConfig", "enableAffectiveDialog"}
DECLARATION = {"name", "description", "parameters", "parametersJsonSchema", "behavior", "response"}
SCHEMA = {
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "items",
    "minItems",
    "maxItems",
    "properties",
    "required",
    "propertyOrdering",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "pattern",
    "minimum",
    "maximum",
    "anyOf",
    "default",
    "example",
}
TYPES = {"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"}
TOOL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}")
PROPERTY_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
REALTIME = {"audio", "video", "text", "audioStreamEnd", "activityStart", "activityEnd"}
_FIRST_LETTER = re.compile(r"_([a-z])")


class Model(NamedTuple):
    """How a generation behaves."""

    blocking: bool
    late_content: bool  # clientContent after the first turn
    text_input: bool  # realtimeInput.text
    context_update: bool
    audio_kills_call: bool
    thinking: bool  # thinkingConfig is known
    tells_status: bool


MODELS = {
    "gemini-2.5": Model(True, True, False, False, False, True, False),
    "gemini-3.1": Model(True, False, True, False, True, True, False),
    "gemini-3.8-live-extended-thinking": Model(False, True, True, True, False, False, True),
    "gemini-3.8": Model(False, True, True, True, False, False, False),
}


class Invalid(Exception):  # noqa: N818 - what the server says of a message
    """The connection is closed with 1007 and this reason."""


def model_of(name: str) -> Model:
    for family in sorted(MODELS, key=len, reverse=True):
        if name.removeprefix("models/").startswith(family):
            return MODELS[family]
    raise Invalid(f"models/{name} is not found for API version v1beta")


def camel(message: Any) -> Any:
    """Both spellings of a field are the same to the server; keys of maps are no fields."""
    if isinstance(message, list):
        return [camel(one) for one in message]
    if not isinstance(message, dict):
        return message
    return {
        _FIRST_LETTER.sub(lambda found: found[1].upper(), key): _value(key, value)
        for key, value in message.items()
    }


def _value(key: str, value: Any) -> Any:
    if key == "response":
        return value
    if key == "properties" and isinstance(value, dict):
        return {name: camel(inner) for name, inner in value.items()}
    return camel(value)


def only(fields: Json, known: set[str], where: str) -> None:
    for name in fields:
        if name not in known:
            raise Invalid(f"Invalid JSON payload received. Unknown name \"{name}\" at '{where}'")


def field_of(message: Json) -> str:
    """The one field of a client message."""
    if len(message) != 1 or next(iter(message)) not in CLIENT_FIELDS:
        raise Invalid("Request contains an invalid argument.")
    return next(iter(message))


def check_setup(setup: Json) -> Model:
    only(setup, SETUP, "setup")
    if not str(setup.get("model", "")).startswith("models/"):
        raise Invalid("Request contains an invalid argument.")
    model = model_of(setup["model"])
    generation = setup.get("generationConfig", {})
    only(generation, GENERATION, "setup.generation_config")
    if not model.thinking and (
        {"thinkingConfig", "enableAffectiveDialog"} & set(generation)
        or generation.get("responseModalities") != ["AUDIO"]
        or setup.get("proactivity", {}).get("proactiveAudio") is False
    ):
        raise Invalid("Request contains an invalid argument.")
    resumption = setup.get("sessionResumption", {})
    only(resumption, {"handle"}, "setup.session_resumption")
    if "handle" in resumption and not isinstance(resumption["handle"], str):
        raise Invalid("Request contains an invalid argument.")
    check_tools(setup.get("tools", []))
    return model


def check_tools(tools: Any) -> list[str]:
    """The names that are declared."""
    names: list[str] = []
    for tool in tools:
        only(tool, {"functionDeclarations", "googleSearch", "codeExecution"}, "setup.tools[0]")
        for position, one in enumerate(tool.get("functionDeclarations", [])):
            _check_declaration(one, f"setup.tools[0].function_declarations[{position}]")
            names.append(one["name"])
    if len(set(names)) != len(names):
        raise Invalid("Duplicate function declaration found.")
    return names


def _check_declaration(declaration: Json, where: str) -> None:
    only(declaration, DECLARATION, where)
    if "parameters" in declaration and "parametersJsonSchema" in declaration:
        raise Invalid(f"Both schemas at '{where}'")
    if not TOOL_NAME.fullmatch(declaration.get("name", "")):
        raise Invalid(f"Invalid function name at '{where}'")
    if "parameters" in declaration:
        check_schema(declaration["parameters"], f"{where}.parameters")
        if not declaration["parameters"].get("properties"):
            raise Invalid(f"Empty OBJECT at '{where}.parameters'")


def check_schema(schema: Json, where: str) -> None:
    only(schema, SCHEMA, where)
    if schema.get("type") not in TYPES:
        raise Invalid(f"Unknown type at '{where}'")
    if not all(isinstance(one, str) for one in schema.get("enum", [])):
        raise Invalid(f"Invalid enum at '{where}'")
    for name, inner in schema.get("properties", {}).items():
        if not PROPERTY_NAME.fullmatch(name):
            raise Invalid(f"Invalid property name at '{where}'")
        check_schema(inner, f"{where}.properties")
    if "items" in schema:
        check_schema(schema["items"], f"{where}.items")
    if not set(schema.get("required", [])) <= set(schema.get("properties", {})):
        raise Invalid(f"Required property is not defined at '{where}'")
