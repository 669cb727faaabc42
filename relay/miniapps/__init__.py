"""Tools that live in a browser sandbox: the page that runs them, and the apps on disk."""
