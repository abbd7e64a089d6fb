"""Answers beyond one solution: several solutions, conflicts, the Pareto front, assumptions."""
