"""Sampling: uniform draws from a set of solutions that is too large to list."""

from constrint import Model

m = Model()
x = m.int_vars("x", 12, 1, 40)
m.add(x[:-1] < x[1:], x.sum() % 7 == 0)
found = m.solutions()
print(found.size)
for solution in found.sample(3, seed=1):
    print(*solution.values())
