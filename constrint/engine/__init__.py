"""The search engine: one source that runs interpreted on lists and compiled on arrays."""
