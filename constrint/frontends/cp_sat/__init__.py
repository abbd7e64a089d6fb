"""Models as CP-SAT's models, for OR-Tools or for a file of its text format (extra: cp-sat)."""
