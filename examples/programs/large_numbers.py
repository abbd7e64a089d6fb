"""Large numbers: an exact solution far beyond 64 bits."""

from constrint import Model

m = Model()
x, y = m.int_var("x", 1, 10**40), m.int_var("y", 1, 10**40)
m.add(x * 123456789 - y * 987654321 == 9, x >= 10**39, y % 1000003 == 17)
r = m.solve(minimize=x)
print(r[x], r[y])

# > 1000000000000000000000000003004995094444 124999998860937500014238281625446404867
