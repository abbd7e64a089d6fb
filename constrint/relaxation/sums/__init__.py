"""Sums of rows and their rounding, written for both Python and machine code."""
