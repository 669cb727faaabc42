"""Tools that are WebAssembly: verified at each call, each run in a fresh confined process."""
