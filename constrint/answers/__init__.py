"""What a model answers beyond one solution: several answers, conflicts, the Pareto front, assumptions."""
