"""Why tools, their arguments and their calls are refused, and what to do about it."""

from relay.protocol.refusals.codes import RefusalCode as C
from relay.protocol.refusals.explained import Explained

EXPLAINED: dict[C, Explained] = {
    C.INVALID_TOOL_DECLARATION: Explained(
        "The tool is not a JSON object, holds text that is not Unicode, or is over 65,536 bytes.",
        "Send one object per tool and keep it small.",
    ),
    C.INVALID_TOOL_NAME: Explained(
        "The name does not match ^[a-zA-Z0-9_-]{1,64}$.",
        "Use 1 to 64 letters, digits, _ or -.",
    ),
    C.INVALID_TOOL_DESCRIPTION: Explained(
        "The description is missing, empty or longer than 1,024 UTF-16 units.",
        "Say in one or two sentences what the tool does.",
    ),
    C.INVALID_TOOL_PARAMETERS: Explained(
        "The parameter schema is outside the subset that the relay can enforce.",
        "Use only the documented types and keywords; the sentence names the offending one.",
    ),
    C.TOO_MANY_TOOLS: Explained(
        "The app already has 16 tools.",
        "Merge tools, or register fewer.",
    ),
    C.MISSING_ARGUMENT: Explained(
        "A required argument is absent or null.",
        "Call again with the argument that the sentence names.",
    ),
    C.INVALID_ARGUMENT: Explained(
        "An argument is unknown, or its value is not plain JSON data.",
        "Send only declared arguments, as plain JSON.",
    ),
    C.INVALID_ARGUMENT_TYPE: Explained(
        "An argument has another type than its declaration.",
        "Send the declared type.",
    ),
    C.INVALID_ARGUMENT_ENUM: Explained(
        "An argument is not one of the declared values.",
        "Choose one of the values in the declaration.",
    ),
    C.INVALID_ARGUMENT_RANGE: Explained(
        "A number lies outside its declared minimum or maximum.",
        "Send a number inside the bounds.",
    ),
    C.INVALID_ARGUMENT_LENGTH: Explained(
        "A text is shorter or longer than declared, counted in code points.",
        "Send a text of a declared length.",
    ),
    C.INVALID_ARGUMENT_BOUNDS: Explained(
        "The arguments are nested deeper than 32 levels or hold more than 2,048 nodes.",
        "Send flatter or smaller arguments.",
    ),
    C.INVALID_TOOL_ARGUMENTS: Explained(
        "The arguments are not a JSON object, or are over 65,536 bytes.",
        "Send one JSON object within the size.",
    ),
    C.UNKNOWN_TOOL: Explained(
        "No tool of that name is registered in the room.",
        "List the tools and use a name from that list.",
        404,
    ),
    C.TOOL_WITHDRAWN: Explained(
        "The tool was registered a moment ago and is gone now.",
        "Open the app again, or use another tool.",
        410,
    ),
    C.TIME_EXCEEDED: Explained(
        "The tool did not answer within its deadline.",
        "Make the tool answer sooner, or split its work.",
        504,
    ),
    C.OUTPUT_OVER_BUDGET: Explained(
        "The result is over 65,536 bytes of UTF-8.",
        "Return a summary.",
        502,
    ),
    C.RESULT_NOT_SERIALISABLE: Explained(
        "The result is not JSON data: cyclic, a function, a BigInt, or a page node.",
        "Return plain JSON data.",
        502,
    ),
    C.MINI_APP_UNREACHABLE: Explained(
        "The page that runs the app is gone or did not take the call.",
        "Open the room page and launch the app again.",
        503,
    ),
    C.MINI_APP_TOOL_FAILED: Explained(
        "The tool's own code threw an error.",
        "Look at the app; the sentence carries its message.",
        502,
    ),
    C.CANCELLED: Explained(
        "The call was cancelled before it finished.",
        "Call again if it is still wanted.",
        409,
    ),
    C.BUSY: Explained(
        "Too many calls are running for this session.",
        "Wait for a running call to finish.",
        503,
    ),
}
