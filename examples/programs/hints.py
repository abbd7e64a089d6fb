"""Hints: a new plan that differs from an earlier one as little as possible."""

from constrint import Model

m = Model()
shift = m.int_vars("shift", 8, 0, 3)
m.add(shift.sum() == 13, *(shift[i] != shift[i + 1] for i in range(7)))
monday = [0, 3, 0, 3, 1, 3, 0, 3]
m.add(shift[2] == 3)
tuesday = m.solve(minimize=(shift != monday).sum(), hint=dict(zip(shift, monday)))
print(tuesday.objective)

# > 3
