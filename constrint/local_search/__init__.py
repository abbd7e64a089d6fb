"""Feasibility jumps: a local search for a first solution, on weighted violations of rows.

Luteberget and Sartor, "Feasibility Jump: an LP-free Lagrangian MIP heuristic", Mathematical Programming
Computation 15, 2023.
"""
