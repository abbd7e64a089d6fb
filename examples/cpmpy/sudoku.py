import cpmpy as cp
import numpy as np

given = np.array(
    [
        [int(c) for c in row]
        for row in """
800000000 003600000 070090200 050007000 000045700 000100030 001000068 008500010 090000400""".split()
    ]
)

x = cp.intvar(1, 9, shape=(9, 9), name="x")
m = cp.Model(x[given > 0] == given[given > 0])
m += [cp.AllDifferent(line) for line in x]
m += [cp.AllDifferent(line) for line in x.T]
m += [cp.AllDifferent(x[i : i + 3, j : j + 3]) for i in range(0, 9, 3) for j in range(0, 9, 3)]
m.solve()
for row in x.value():
    print(*row)
