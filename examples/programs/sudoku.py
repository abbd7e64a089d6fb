"""Sudoku by numpy: rows, columns and blocks are slices of one array."""

import numpy as np

from constrint import Model, all_different

given = np.array(
    [
        [int(c) for c in row]
        for row in """
800000000 003600000 070090200 050007000 000045700 000100030 001000068 008500010 090000400""".split()
    ]
)

m = Model()
x = m.int_vars("x", (9, 9), 1, 9)
m.add(x[given > 0] == given[given > 0])
m.add(all_different(line) for line in [*x, *x.T])
m.add(all_different(x[i : i + 3, j : j + 3]) for i in range(0, 9, 3) for j in range(0, 9, 3))
for row in m.solve()[x]:
    print(*row)
