"""A model made ready for search: prepared, options, branching, and the protocol of searches."""
