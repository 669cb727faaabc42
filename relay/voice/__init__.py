"""One conversation: a client, a live model and the room's tools."""
