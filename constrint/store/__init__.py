"""The state arrays of the engine: domains, trail, and what a propagator is."""
