"""Voicebox Relay: the server between a live voice model and the tools on a person's screen."""

__version__ = "0.1.0"
