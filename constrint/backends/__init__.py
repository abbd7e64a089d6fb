"""Other solvers behind `Model.solve`."""
