"""Root reasoning: what is proven before search starts, by propagation, number theory and linear algebra."""

from constrint.presolve.root import OutOfRange, Root, better_than, presolve

__all__ = ["OutOfRange", "Root", "better_than", "presolve"]
