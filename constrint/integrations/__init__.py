"""Other tools that use constrint's solution sets. Each module imports its tool, and only that."""
