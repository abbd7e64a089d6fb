"""Export: the same model in the formats of other solvers."""

from constrint import Model

m = Model("paint")
red, blue = m.int_var("red", 0, 10), m.int_var("blue", 0, 10)
m.add(red + 2 * blue <= 12, red >= blue)
m.maximize(3 * red + 4 * blue)
print(m.to_text())
print(
    m.solve().objective, m.solve(backend="cp-sat").objective, Model.from_json(m.to_json()).solve().objective
)

# > red in 0..10
# > blue in 0..10
# > red + 2 * blue <= 12
# > red >= blue
# > maximize 3 * red + 4 * blue
# > 34 34 34
