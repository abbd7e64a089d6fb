"""Tables, elements and functions of expressions."""

from constrint import IntExpr, Model, element, if_then_else, max_, table

m = Model()
x, y = m.int_var("x", 0, 3), m.int_var("y", 0, 3)
m.add(table([x, y], [(0, 1), (1, 2), (2, 0)]))
m.add(table([x, y], 3))  # error
price: IntExpr = element([4, 2, 7, 1], x)
m.add(element([4, 2, 7, 1], "x") == 2)  # error
both = if_then_else(x == 1, y, price)
m.add(max_(x, y) <= both)
m.add(max_(x, "y") <= both)  # error
price.implies(both)  # error
m.add(x.is_in([1, 2]), x.is_in(3))  # error
r = m.solve(maximize=[both, price])
value: int = r[price]
word: str = r[price]  # error
flag: int = r[x == y]
