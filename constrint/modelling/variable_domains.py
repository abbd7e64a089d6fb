"""The domains of integer variables, from the arguments of `int_var`."""

from __future__ import annotations

from collections.abc import Iterable

from constrint.errors import ModelError
from constrint.expr.domain import Domain
from constrint.support.arguments import integer, integer_list


def variable_domain(
    name: str, lo: int | None, hi: int | None, step: int, values: Iterable[int] | None
) -> Domain:
    """The domain for the arguments of `int_var`."""
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
    return Domain.of_range(lo, hi, step)
