"""What goes wrong before a relay runs."""


class SettingsError(Exception):
    """A setting is unknown or has a value that can't be used; the text says which and why."""
