"""The search engine: one source that runs interpreted on lists, or compiled by numba on arrays."""
