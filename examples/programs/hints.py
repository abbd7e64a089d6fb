"""Hints: the search starts near an earlier solution, and a plan changes little."""

from constrint import Model

m = Model()
shift = m.int_vars("shift", 8, 0, 3)
m.add(shift.sum() == 13, *(shift[i] != shift[i + 1] for i in range(7)))
monday = m.solve()
m.add(shift[2] == 3)
tuesday = m.solve(minimize=sum(shift[i] != monday[shift[i]] for i in range(8)), hint=monday)
print(tuesday.objective)
