"""Lowering: from expressions to the normal form over which propagators work."""
