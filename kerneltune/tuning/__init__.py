"""Tuning runs, the store of trials, and reports."""
