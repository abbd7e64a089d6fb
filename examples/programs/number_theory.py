"""Number theory: multiples of 2025 that are the sum of two squares in two ways."""

from constrint import Model, divides

m = Model()
a, b, c, d, n = (m.int_var(name, 1, 10**9) for name in "abcdn")
m.add(a**2 + b**2 == n, c**2 + d**2 == n, a < b, c < d, a < c, divides(2025, n), n <= 10**5)
print(m.count(), m.solve(minimize=n)[n])

# > 27 10125
