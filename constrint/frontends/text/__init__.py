"""The text languages."""
