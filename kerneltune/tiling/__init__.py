"""Solving for a tiling and explaining why there is none."""
