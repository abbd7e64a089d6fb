"""A model made ready for search, how to search it, and what a search is."""
