"""Search strategies."""
