"""What goes wrong for a person at a terminal."""


class CommandError(Exception):
    """What was asked for can't be done; the text is the one line that says why."""


class UnreachableError(CommandError):
    """No relay answers where one was looked for; it may yet come."""
