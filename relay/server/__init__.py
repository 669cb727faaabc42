"""The HTTP and WebSocket edge: the only part that speaks to clients."""
