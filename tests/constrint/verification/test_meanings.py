"""The checker's own meaning of each constraint, against the solver's registry."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import pytest
from constraint_checks import draw_instance

from constrint import propagators
from constrint.learning.proof_definitions import arguments_of
from constrint.verification.bounds import Bounds, Contradiction, domain_of
from constrint.verification.listing import listed
from constrint.verification.meanings import DEFINITIONS, scope


@pytest.mark.parametrize("kind", propagators.REGISTRY, ids=lambda kind: kind.__name__)
def test_the_checker_knows_every_propagator(kind: type[Any]) -> None:
    assert kind.__name__ in DEFINITIONS, f"the checker has no meaning of {kind.__name__}"
    held = set()
    for seed in range(12):
        instance = draw_instance(kind, seed)
        node, rng = instance.node, random.Random(seed)
        arguments = json.loads(json.dumps(arguments_of(node)))
        assert scope(arguments) == sorted(set(node.scope()))
        domains = [list(domain) for domain in instance.domains]
        points = list(itertools.product(*domains))
        for point in rng.sample(points, min(60, len(points))):
            values = dict(enumerate(point))
            assert DEFINITIONS[kind.__name__](arguments, values) == node.holds(point), (node, point)
            held.add(node.holds(point))
    assert held == {True, False}


@pytest.mark.parametrize("kind", propagators.REGISTRY, ids=lambda kind: kind.__name__)
def test_bounds_by_listing_lose_no_solution(kind: type[Any]) -> None:
    for seed in range(12):
        instance = draw_instance(kind, seed)
        node = instance.node
        arguments = json.loads(json.dumps(arguments_of(node)))
        domains = {v: tuple(domain) for v, domain in enumerate(instance.domains)}
        low, high = {v: d[0] for v, d in domains.items()}, {v: d[-1] for v, d in domains.items()}
        solutions = [p for p in itertools.product(*domains.values()) if node.holds(p)]
        for most in (0, 10_000):
            bounds = Bounds(domains, dict(low), dict(high), most)  # type: ignore[arg-type]
            try:
                listed(bounds, kind.__name__, arguments, scope(arguments), most)
            except Contradiction:
                assert not solutions
                continue
            for point in solutions:
                assert all(bounds.low[v] <= x <= bounds.high[v] for v, x in enumerate(point)), (node, point)


@pytest.mark.parametrize("text", ["", "3 .. 1", "1 .. 5 step", "2 1", "1 1", "a", "1 .. 2 .. 3"])
def test_domains_that_are_none(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        domain_of(text)
