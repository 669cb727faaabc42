"""The product in a real Chromium: a relay process, a browser, the room's page, witnesses.

Used by `scripts/attack`, `scripts/bench/bridge.py`, `tests/browser/` and `tests/attacks/`.
"""
