"""Sampling: uniform draws from a set of solutions that is too large to list."""

from constrint import Model

m = Model()
x = m.int_vars("x", 12, 1, 40)
m.add(x[:-1] < x[1:], x.sum() % 7 == 0)
found = m.solutions()
print(found.size)
for solution in found.sample(3, seed=1):
    print(*solution.values())

# > 798121925
# > 1 3 8 15 18 21 33 34 37 38 39 40
# > 3 8 14 17 21 22 23 27 31 33 35 39
# > 1 3 4 5 6 8 12 16 20 26 36 38
