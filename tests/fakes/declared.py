"""Tool declarations as an app sends them."""

from typing import Any

SET_SCORE: dict[str, Any] = {
    "name": "set_score",
    "description": "Add points to a team on the scoreboard",
    "parameters": {
        "type": "object",
        "properties": {
            "team": {"type": "string", "enum": ["home", "away"]},
            "points": {"type": "number", "description": "Points to add"},
        },
        "required": ["team", "points"],
    },
}


def tool(name: str, **properties: dict[str, Any]) -> dict[str, Any]:
    """A tool whose parameters are all optional."""
    return {
        "name": name,
        "description": f"The tool {name}",
        "parameters": {"type": "object", "properties": properties},
    }
