"""Models from sympy relations and as them."""
