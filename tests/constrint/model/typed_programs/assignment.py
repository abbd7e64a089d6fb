"""An assignment: a matrix of Booleans, sums along axes, conditions."""

import numpy as np

from constrint import BoolExpr, IntExpr, Model, implies

m = Model("assignment")
x = m.bool_vars("x", (3, 4))
rows = x.sum(axis=1)
m.add(rows == 1)
first: IntExpr = rows[0]
m.add(x.sum(axis=0) <= 1)
m.add(implies(x[0, 0], x[1, 1] | x[2, 2]))
total: IntExpr = x.sum()
any_of_them: BoolExpr = x.any()
wrong: BoolExpr = x.sum()  # error
flag: int = x[0, 0]  # error
x[0, 0].cardinality  # error
m.add(total + 1)  # error
costs = np.arange(12).reshape(3, 4)
r = m.solve(minimize=(x * costs).sum())
chosen = r[x]
text: str = chosen  # error
print(chosen.argmax(axis=1), chosen.argmin(axes=1), r.bound)  # error
