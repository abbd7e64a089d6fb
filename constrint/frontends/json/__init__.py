"""Models as JSON."""
