"""Integrations of constrint into other tools. Each module imports its tool, and no other."""
