"""Chinese remainder theorem: a system of congruences, with numbers of any size."""

from constrint import Model

m = Model()
x = m.int_var("x", 0, None)
m.add(x % p == r for p, r in [(10**9 + 7, 5), (10**9 + 9, 6), (998244353, 7)])
print(m.solve(minimize=x)[x])

# > 364869246337907870486762153
