"""A knapsack: an array of variables along one axis, a sum, an integer objective."""

from constrint import IntVar, Model, Status

WEIGHTS, WORTH = [3, 4, 5, 9], [3, 4, 4, 10]

m = Model("knapsack")
take = m.int_vars("take", 4, 0, 2)
m.add(sum(w * x for w, x in zip(WEIGHTS, take, strict=True)) <= 11)
value = sum(v * x for v, x in zip(WORTH, take, strict=True))
first: IntVar = take[0]
last: str = take[-1]  # error
take[0].append(3)  # error
r = m.solve(maximize=value)
label: str = r.objective  # error
amounts = r[take]
amounts.values()  # error
one: int = r[take[0]]
wrong: list[int] = r[take[1]]  # error
assert r.objective is not None
twice: int = 2 * r.objective
done: bool = r == Status.OPTIMAL  # strict error
found: bool = r in (Status.OPTIMAL, Status.FEASIBLE)  # strict error
proven: bool = r.status == "optimal"  # strict error
few: bool = m.solutions() == 4  # strict error
