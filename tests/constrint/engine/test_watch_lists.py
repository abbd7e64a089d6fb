"""Watch lists of many constraints: as arrays they are the same as the lists of few."""

from __future__ import annotations

from array import array
from random import Random

import pytest

from constrint.engine.encoding import encoded
from constrint.engine.many_watches import many_watches
from constrint.propagators import Clause, LinearEqIf, LinearLe, LinearNe, Product, Propagator


def _drawn(random: Random, count: int) -> list[Propagator]:
    """Constraints of few variables, some of which occur twice in one."""
    nodes: list[Propagator] = []
    for _ in range(count):
        x, y, z = [random.randrange(12) for _ in range(3)]
        nodes.append(
            random.choice(
                [
                    Clause((2 * x, 2 * y + 1, 2 * x + 1)),
                    LinearLe(((random.choice([-2, 1]), x), (3, y), (-1, x)), 4),
                    LinearNe(((1, x), (-1, y)), 0),
                    LinearEqIf(2 * x, ((1, y), (1, z)), 3),
                    Product(x, y, z),
                    Clause(()),
                ]
            )
        )
    return nodes


@pytest.mark.parametrize("count", [0, 1, 40])
def test_arrays_are_the_same_as_lists(count: int) -> None:
    for seed in range(20):
        nodes = _drawn(Random(seed), count)
        few = encoded(15, nodes).watches
        many = many_watches(15, nodes)
        assert all(isinstance(cells, list) for cells in few)
        assert all(isinstance(cells, array) for cells in many)
        assert [list(cells) for cells in many] == [list(cells) for cells in few]
