"""How the built-in tools for mini-apps are declared to models. Runs nothing."""

from typing import Any

from relay.tools.tool import ToolName, ToolSpec

_NAME: dict[str, Any] = {
    "type": "string",
    "description": "its title, file name or id, as list_mini_apps tells them",
    "maxLength": 256,
}


def _spec(
    name: str, description: str, required: tuple[str, ...] = (), /, **properties: dict[str, Any]
) -> ToolSpec:
    parameters: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        parameters["required"] = list(required)
    parameters["additionalProperties"] = False
    return ToolSpec(name=ToolName(name), description=description, parameters=parameters)


SPECS = (
    _spec(
        "list_mini_apps",
        "List the mini-apps and pages that can be launched",
        kind={"type": "string", "enum": ["app", "page"], "description": "only these"},
    ),
    _spec(
        "launch_mini_app",
        "Launch a mini-app or open a page on the person's screen",
        ("name",),
        name=_NAME,
    ),
    _spec("close_mini_app", "Close a mini-app that is running", ("name",), name=_NAME),
    _spec(
        "save_mini_app",
        "Save an HTML document as a mini-app; an app with that title is replaced",
        ("title", "html"),
        title={"type": "string", "description": "what people call it", "maxLength": 120},
        html={"type": "string", "description": "one whole HTML document with its scripts"},
    ),
    _spec(
        "delete_mini_app",
        "Delete a mini-app or page for good. The first call only asks the person",
        ("name",),
        name=_NAME,
        confirmed={"type": "boolean", "description": "true only after the person said yes"},
    ),
)
