"""Root reasoning before search: propagation, number theory and linear algebra."""

from constrint.presolve.root import LARGE, OutOfRange, Root, better_than, is_linear, presolve, untouched

__all__ = ["LARGE", "OutOfRange", "Root", "better_than", "is_linear", "presolve", "untouched"]
