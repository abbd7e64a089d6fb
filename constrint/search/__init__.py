"""The search: which method takes a model, and the methods."""
