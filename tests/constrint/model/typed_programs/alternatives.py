"""Several answers: all solutions, the Pareto front, a count, a set."""

from constrint import Model

m = Model()
x, y = m.int_var("x", 0, 4), m.int_var("y", 0, 4)
m.add(x + y >= 3)
for solution in m.iter_solutions(limit=2):
    print(solution[x] + solution[y])
    print(solution[x].name)  # error
    solution.objectives  # error
count: str = m.count()  # error
front = m.pareto([(x, "max"), (y, "least")])  # error
front = m.pareto([(x, "max"), (y, "min")])
best: int = front[0][x]
wrong: str = front[0][x]  # error
print(len(front[0].objective))
both = m.solve(minimize=[x, y])
print(len(both.objective))
first, second = both.objective
name: str = both.objective  # error
found = m.solutions()
size: int = found.size
found.sample("3")  # error
