"""The choice of a method, and the search methods."""
