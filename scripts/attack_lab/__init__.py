"""One HTML file against the product: what it reached, what it broke, what the room made of it."""
