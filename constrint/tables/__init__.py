"""Optima of small spaces by tables: rows of values, evaluated column by column in numpy."""
