"""Models from sympy relations, and as sympy relations."""
