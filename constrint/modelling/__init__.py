"""The contents of a model: declarations, objectives, scopes, results."""
