"""The `kerneltune` command."""
