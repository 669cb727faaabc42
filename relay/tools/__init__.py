"""What a tool is, wherever it runs: declaration, arguments, registry, dispatch."""
