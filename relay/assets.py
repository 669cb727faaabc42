"""Where the files that ship with the product lie: pages, shelf, examples.

An installed wheel carries them inside the package; a checkout has them beside it.
"""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_ROOT = _PACKAGE / "assets" if (_PACKAGE / "assets").is_dir() else _PACKAGE.parent

STATIC = _ROOT / "static"
SHELF = _ROOT / "shelf"
MINI_APPS = _ROOT / "examples" / "mini-apps"
