"""The arguments of `int_var` and `int_vars`: bounds, steps, sets of values, shapes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from constrint.errors import ModelError
from constrint.expr.array_shapes import Axes, axes_of
from constrint.expr.domain import Domain
from constrint.support.arguments import integer, integer_list


def domain_of(name: str, lo: int | None, hi: int | None, step: int, values: Iterable[int] | None) -> Domain:
    """The domain for the arguments of `int_var`."""
    if type(lo) is not int and isinstance(lo, Iterable) and not isinstance(lo, str):
        raise ModelError(
            f"'{name}': lo must be an integer, not {lo!r}: write int_var({name!r}, lo, hi), or values={lo!r} "
            "for a set of values"
        )
    if values is not None:
        if lo is not None or hi is not None or step != 1:
            raise ModelError(f"'{name}': give either values or bounds and step, not both")
        return Domain.of_values(integer_list(values, f"'{name}': the values"))
    if type(step) is not int:
        step = integer(step, f"'{name}': step")
    if step < 1:
        raise ModelError(f"'{name}': step must be at least 1, not {step}")
    if lo is not None and type(lo) is not int:
        lo = integer(lo, f"'{name}': lo")
    if hi is not None and type(hi) is not int:
        hi = integer(hi, f"'{name}': hi")
    if lo is not None and hi is not None and lo > hi:
        raise ModelError(
            f"'{name}': lo is {lo} and hi is {hi}, so there is no value: lo comes first; values=[] declares "
            "an empty domain"
        )
    return _range(lo, hi, step)


_range = lru_cache(256)(Domain.of_range)
"""Variables with the same bounds share their domain."""


def array_axes(name: object, shape: object, lo: int | None = None, hi: int | None = None) -> Axes:
    """The axes of an array of variables; raises `ModelError` for arguments in another order."""
    if isinstance(name, list | tuple):
        raise ModelError(
            f"an array has one name, not {name!r}: write int_vars('x', {name!r}, lo, hi) for x[0] …, or for "
            "x[ann] … where these are names, or declare each by int_var"
        )
    if not isinstance(name, str):
        raise ModelError(f"the name comes first, as in int_vars('x', 3, 0, 9); {name!r} is not a name")
    axes = axes_of(name, shape)
    if axes.shape == (0,) and axes.labels is None and lo is not None and hi is None:
        raise ModelError(
            f"'{name}': the shape comes before the bounds, as in int_vars({name!r}, 3, {shape}, {lo}); an "
            "array of shape 0 has no elements"
        )
    return axes
