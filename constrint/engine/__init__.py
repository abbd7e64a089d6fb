"""The search engine: one source that runs interpreted on lists and compiled by numba on arrays."""
