"""Why mini-apps on disk are refused, and what to do about it."""

from relay.protocol.refusals.codes import RefusalCode as C
from relay.protocol.refusals.explained import Explained

EXPLAINED: dict[C, Explained] = {
    C.MINI_APP_NOT_FOUND: Explained(
        "No mini-app or page has that id, file name or title.",
        "List the mini-apps and use an id from that list.",
        404,
    ),
    C.MINI_APP_NAME_TAKEN: Explained(
        "The name belongs to another app or page; nothing was written.",
        "Save under another name, or name the app that you mean by its id.",
        409,
    ),
    C.MINI_APP_NAME_INVALID: Explained(
        "The file name can't be a file on every system, or is too long.",
        "Use letters, digits, spaces, - and _; the sentence says what is wrong.",
    ),
    C.MINI_APP_TOO_LARGE: Explained(
        "The mini-app is over 5 MiB.",
        "Make it smaller.",
        413,
    ),
    C.MINI_APP_READ_ONLY: Explained(
        "The mini-app ships with the product and stays.",
        "Save a copy of your own; it takes the place of the shipped one.",
        403,
    ),
    C.MISSING_HTML: Explained(
        "There is no HTML to save.",
        "Send the whole document as a text.",
    ),
    C.OUTSIDE_ROOT: Explained(
        "The file name leads out of the folder, or through a link.",
        "Use a plain file name without folders.",
    ),
    C.DOTFILE_REFUSED: Explained(
        "The file name begins with a dot.",
        "Use a name that is not hidden.",
    ),
    C.STORE_UNAVAILABLE: Explained(
        "The folder of the mini-apps can't be read or written now.",
        "See that the folder is there and writable, and that the disk has space.",
        503,
    ),
}
