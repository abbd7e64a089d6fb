"""A model made ready for search: plan, options, branching, and the protocol of searches."""
