import cpmpy as cp
import numpy as np

shift = cp.intvar(0, 3, shape=8, name="shift")
m = cp.Model(cp.sum(shift) == 13, [shift[i] != shift[i + 1] for i in range(7)])
monday = [0, 3, 0, 3, 1, 3, 0, 3]
m += shift[2] == 3
m.minimize(cp.sum(shift != np.array(monday)))
solver = cp.SolverLookup.get("ortools", m)
solver.solution_hint(shift, monday)
solver.solve()
print(solver.objective_value())
