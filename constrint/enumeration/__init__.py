"""Optima of small search spaces by tables: rows of values, evaluated column by column in numpy."""
