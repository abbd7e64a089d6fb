"""What a model holds: declarations, objectives, scopes, results."""
