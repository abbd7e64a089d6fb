"""Sudoku: rows, columns and blocks as slices of one array."""

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

# > 8 1 2 7 5 3 6 4 9
# > 9 4 3 6 8 2 1 7 5
# > 6 7 5 4 9 1 2 8 3
# > 1 5 4 2 3 7 8 9 6
# > 3 6 9 8 4 5 7 2 1
# > 2 8 7 1 6 9 5 3 4
# > 5 2 1 9 7 4 3 6 8
# > 4 3 8 5 2 6 9 1 7
# > 7 9 6 3 1 8 4 5 2
