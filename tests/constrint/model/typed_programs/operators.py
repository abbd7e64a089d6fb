"""Operators and comparisons of arrays: numbers give numbers, comparisons give conditions."""

from constrint import BoolVar, IntExpr, IntVar, Model

m = Model()
x = m.int_vars("x", 5, 0, 9)
b = m.bool_vars("b", 5)
total = x + 2 * x
inner: IntExpr = total[0]
variable: IntVar = total[0]  # error
rising = x[1:] > x[:-1]
m.add(rising)
m.add(rising[0].implies(b[0]), (x == 3)[1] | b[1])
total[0].implies(b[0])  # error
negated = ~b
m.add(negated[0])
taken: BoolVar = negated[0]  # error
picked: IntExpr = x[x[0] % 5]
also: IntVar = x[x[0]]  # error
m.add(x[0] + "1" == 3)  # error
m.add(abs(x)[0] <= 3, (-x)[0] <= 0)
x[0] = 3  # error
