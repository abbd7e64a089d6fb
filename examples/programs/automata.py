"""Automata: sequences without three equal neighbours, counted."""

from constrint import Model, regular

m = Model()
x = m.int_vars("x", 40, 0, 1)
step = [(f"{s}{run}", s, f"{s}{run + 1}") for s in range(2) for run in (1,)]
step += [(f"{s}{run}", 1 - s, f"{1 - s}1") for s in range(2) for run in (1, 2)]
m.add(
    regular(
        x, [*step, ("begin", 0, "01"), ("begin", 1, "11")], start="begin", accepting=["01", "02", "11", "12"]
    )
)
print(m.count())
