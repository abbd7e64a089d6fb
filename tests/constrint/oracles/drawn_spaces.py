"""Parameters of tuners, and what restrictions on them allow by Python's own evaluation."""

from __future__ import annotations

import itertools
import math
from typing import Any

PARAMS: dict[str, Any] = {
    "a": [1, 2, 3, 4, 8],
    "b": [-3, 0, 2, 5],
    "c": [16, 4, 1, 12],
    "f": [0.5, 1, 2.25],
    "s": ["row", "col", "tile"],
    "on": [False, True],
}


def allowed(params: Any, functions: Any) -> Any:
    """Configurations that all functions of a dict allow; an arithmetic error does not."""
    found = []
    for values in itertools.product(*params.values()):
        config = dict(zip(params, values, strict=True))
        try:
            if all(function(config) for function in functions):
                found.append(config)
        except ArithmeticError:
            continue
    return found


def same(space: Any, configs: Any) -> bool:
    return sorted(map(repr, space)) == sorted(map(repr, configs))


def python(text: str) -> Any:
    """The restriction as Python itself understands it."""
    code = compile(text, "<restriction>", "eval")
    return lambda config: eval(code, {"gcd": math.gcd, "lcm": math.lcm}, config)  # noqa: S307 - the oracle
