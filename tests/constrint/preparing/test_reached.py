"""The constraints that a variable reaches: its own, and those on functions of it."""

from __future__ import annotations

from random import Random

from constrint.preparing.branching import credits_of, dependents, reached_by
from constrint.propagators.linear import LinearLe
from constrint.store.propagator import Propagator


def drawn(r: Random) -> tuple[int, list[Propagator], dict[int, tuple[tuple[int, int], ...]]]:
    """Constraints over a few variables, of which the later half are functions of earlier ones."""
    count = 8
    nodes: list[Propagator] = [
        LinearLe(tuple((1, v) for v in r.sample(range(count), r.randint(1, 3))), 3)
        for _ in range(r.randint(0, 9))
    ]
    inputs = {z: tuple((v, 1) for v in r.sample(range(z), 2)) for z in range(4, count) if r.random() < 0.6}
    return count, nodes, inputs


def by_definition(
    v: int, nodes: list[Propagator], inputs: dict[int, tuple[tuple[int, int], ...]]
) -> set[int]:
    found = {number for number, node in enumerate(nodes) if v in node.scope()}
    for z, arguments in inputs.items():
        if any(v == x for x, _ in arguments):
            found |= by_definition(z, nodes, inputs)
    return found


def test_reached_are_own_constraints_and_those_of_functions() -> None:
    for seed in range(100):
        count, nodes, inputs = drawn(Random(seed))
        reached = reached_by(count, nodes, inputs)
        expected = [sorted(by_definition(v, nodes, inputs)) for v in range(count)]
        assert [list(numbers) for numbers in reached] == expected
        assert dependents(count, nodes, inputs) == [len(numbers) for numbers in expected]
        credits = credits_of(range(count), reached, len(nodes))
        assert credits == [[v for v in range(count) if n in expected[v]] for n in range(len(nodes))]


def test_a_chain_of_functions_stays_within_the_limit() -> None:
    count = 400
    nodes: list[Propagator] = [LinearLe(((1, v),), 3) for v in range(count)]
    inputs = {v + 1: ((v, 1),) for v in range(count - 1)}
    most = 1000
    reached = reached_by(count, nodes, inputs, most)
    assert sum(map(len, reached)) <= count + most + count
    assert all(v in numbers for v, numbers in enumerate(reached))
    assert list(reached[count - 2]) == [count - 2, count - 1]
