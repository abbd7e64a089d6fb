"""Auto-tuners' search spaces."""
