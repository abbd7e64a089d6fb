"""Tuning runs and what they keep."""
