"""Tilings: their space, candidates, cost model, and explanations if nothing fits."""
