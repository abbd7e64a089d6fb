"""Automata: counting the sequences without three equal neighbours."""

from constrint import Model, regular

m = Model()
x = m.int_vars("x", 40, 0, 1)
steps = [(f"{symbol}1", symbol, f"{symbol}2") for symbol in range(2)]
steps += [(f"{s}{run}", 1 - s, f"{1 - s}1") for s in range(2) for run in (1, 2)]
steps += [("begin", 0, "01"), ("begin", 1, "11")]
m.add(regular(x, steps, start="begin", accepting=["01", "02", "11", "12"]))
print(m.count())

# > 331160282
