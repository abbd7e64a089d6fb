"""A Sudoku: a matrix, its rows, columns and blocks."""

from constrint import ExprArray, IntVar, Model, all_different

m = Model("sudoku")
g = m.int_vars("g", (9, 9), 1, 9)
for i in range(9):
    m.add(all_different(g[i]), all_different(g[:, i]))
    m.add(all_different(g[i, j] for j in range(9)))
for row in g:
    m.add(row[0] != row[8])
    row[0].shape  # error
m.add(g[0, 0] == 5)
corner: IntVar = g[0, 0]
block: ExprArray[IntVar, tuple[int, int]] = g[0:3, 0:3]
flat: ExprArray[IntVar, tuple[int]] = g[0:3, 0:3]  # error
line: ExprArray[IntVar, tuple[int]] = g[3]
mixed: ExprArray[IntVar, tuple[int]] = g[3, 4]  # error
g[0][0].name.foo  # error
r = m.solve()
solved = r[g]
solved.upper()  # error
print(solved.sum(axis=1), r.status.value)
