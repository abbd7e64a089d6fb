"""Root reasoning before search: propagation, number theory and linear algebra."""

from constrint.presolve.root import OutOfRange, Root, better_than, is_linear, presolve, untouched

__all__ = ["OutOfRange", "Root", "better_than", "is_linear", "presolve", "untouched"]
