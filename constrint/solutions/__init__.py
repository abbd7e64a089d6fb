"""Sets of solutions: counted, indexed, sampled and combined."""
