"""Factors and squares of integers."""
