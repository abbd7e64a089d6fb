"""The part of a term that bound variables decide is the same term, whichever larger part it is taken from."""

# mypy: disable-error-code="arg-type"
from __future__ import annotations

import random

import numpy as np
import pytest

from constrint.diagrams.parts import Parts
from constrint.diagrams.terms import Terms

VARIABLES = 3


def drawn_sum(rng: random.Random) -> tuple[Parts, object]:
    """A sum of terms that may be undefined: those with coefficient 0 must still be defined."""
    values = np.arange(-2, 3)
    terms = Terms([values] * VARIABLES, [(-2, 2)] * VARIABLES)
    operands = [
        terms.call(rng.choice([max, min, divmod]), [terms.var(rng.randrange(VARIABLES))]) for _ in range(8)
    ]
    return Parts(terms), terms.sum([rng.choice([0, 0, 0, -2, 3]) for _ in operands], operands, 1)


@pytest.mark.parametrize("seed", range(40))
def test_a_part_of_a_part_is_a_part_of_the_whole(seed: int) -> None:
    rng = random.Random(seed)
    parts, whole = drawn_sum(rng)
    order = rng.sample(range(VARIABLES), VARIABLES)
    bounds = [sum(1 << v for v in order[:depth]) for depth in range(1, VARIABLES + 1)]
    for i, fewer in enumerate(bounds):
        small = parts.split(whole, fewer)[0]
        for more in bounds[i + 1 :]:
            large = parts.split(whole, more)[0]
            if small is not None and small is not large:
                assert large is not None
                assert parts.split(large, fewer)[0] is small
