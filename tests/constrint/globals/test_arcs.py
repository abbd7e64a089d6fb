"""Circuits and routes over arcs with literals: meaning, labels, loads and times along arcs, messages."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from random import Random

import pytest
from ortools.sat.python import cp_model

from constrint import Model, ModelError, along, circuit, routes, sum_

Ends = list[tuple[int, int]]


def drawn(rng: Random, depot: int | None) -> Ends:
    n = rng.randint(1 if depot is None else 2, 5)
    ends = [(i, j) for i in range(n) for j in range(n) if i != j or (i != depot and rng.random() < 0.4)]
    ends = rng.sample(ends, min(len(ends), rng.randint(1, 10)))
    if depot is not None and not any(depot in pair for pair in ends):
        ends.append((depot, 1 - depot))
    if rng.random() < 0.3 and ends and ends[0][0] != ends[0][1]:
        ends.append(ends[0])
    return ends or [(0, 0)]


def by_cp_sat(ends: Ends, depot: int | None) -> set[tuple[int, ...]]:
    """All solutions that CP-SAT finds; its depot is node 0, and its nodes have no gaps."""
    model = cp_model.CpModel()
    literals = [model.new_bool_var("") for _ in ends]
    nodes = sorted({node for pair in ends for node in pair}, key=lambda node: (node != depot, node))
    arcs = [(nodes.index(i), nodes.index(j), one) for (i, j), one in zip(ends, literals, strict=True)]
    (model.add_circuit if depot is None else model.add_multiple_circuit)(arcs)
    found: set[tuple[int, ...]] = set()

    class Each(cp_model.CpSolverSolutionCallback):
        def on_solution_callback(self) -> None:
            found.add(tuple(int(self.boolean_value(one)) for one in literals))

    solver = cp_model.CpSolver()
    solver.parameters.enumerate_all_solutions = True
    solver.parameters.num_workers = 1
    solver.solve(model, Each())
    return found


@pytest.mark.parametrize("seed", range(8))
def test_solutions_are_those_of_cp_sat(seed: int) -> None:
    rng = Random(seed)
    for _ in range(12):
        depot = rng.choice([None, 0, 1])
        ends = drawn(rng, depot)
        model = Model()
        literals = [model.bool_var(f"b{i}") for i in range(len(ends))]
        arcs = [(i, j, one) for (i, j), one in zip(ends, literals, strict=True)]
        condition = circuit(arcs) if depot is None else routes(arcs, depot)
        expected = by_cp_sat(ends, depot)
        if rng.random() < 0.3:
            condition = ~condition
            expected = set(itertools.product((0, 1), repeat=len(ends))) - expected
        model.add(condition)
        found = {tuple(int(row[one.name]) for one in literals) for row in model.solutions()}
        assert found == expected, (ends, depot)
        assert bool(model.solve()) == bool(expected)
        assert Model.from_text(model.to_text()).count() == len(expected)


def test_a_node_is_left_out_by_its_own_arc() -> None:
    model = Model()
    go = {(i, j): model.bool_var(f"go_{i}_{j}") for i in range(4) for j in range(4) if i != j or i == 3}
    model.add(circuit([(i, j, taken) for (i, j), taken in go.items()]))
    assert model.count() == 6 + 2  # of all four nodes; of three


class Fleet:
    """Three vehicles with a capacity, and customers that open for some time."""

    def __init__(self, seed: int, customers: int) -> None:
        rng = Random(seed)
        self.names = ["depot", *(f"c{i}" for i in range(customers))]
        at = {name: (rng.randint(0, 9), rng.randint(0, 9)) for name in self.names}
        self.travel = {
            (a, b): abs(at[a][0] - at[b][0]) + abs(at[a][1] - at[b][1])
            for a, b in itertools.permutations(self.names, 2)
        }
        self.demand = {name: rng.randint(1, 4) for name in self.names[1:]}
        self.opens = {name: rng.randint(0, 25) for name in self.names[1:]}
        self.closes = {name: opens + rng.randint(5, 25) for name, opens in self.opens.items()}

    def model(self) -> Model:
        model = Model()
        arcs = [(a, b, model.bool_var(f"{a}_{b}")) for a, b in self.travel]
        load = {stop: model.int_var(f"load_{stop}", need, 8) for stop, need in self.demand.items()}
        start = {
            stop: model.int_var(f"start_{stop}", opens, self.closes[stop])
            for stop, opens in self.opens.items()
        }
        used = model.int_var("used", 1, 3)
        model.add(routes(arcs, "depot", vehicles=used))
        model.add(along(arcs, load, {(a, b): self.demand.get(b, 0) for a, b in self.travel}, "depot"))
        model.add(along(arcs, start, self.travel, "depot"))
        model.minimize(sum_([self.travel[a, b] * taken for a, b, taken in arcs]) + 5 * used)
        return model

    def price(self, route: Sequence[str]) -> int | None:
        """The cost of a route; None where it is late or its load too great."""
        time, total, before = 0, 5, "depot"
        for stop in route:
            time = max(time + self.travel[before, stop], self.opens[stop])
            total, before = total + self.travel[before, stop], stop
            if time > self.closes[stop]:
                return None
        fits = sum(self.demand[stop] for stop in route) <= 8
        return total + self.travel[before, "depot"] if fits else None

    def cheapest(self) -> int | None:
        """The least cost over all orders and all ways to cut them."""
        count = len(self.demand)
        best: int | None = None
        for order in itertools.permutations(self.demand):
            for cuts in (cuts for k in range(3) for cuts in itertools.combinations(range(1, count), k)):
                prices = [self.price(order[a:b]) for a, b in itertools.pairwise([0, *cuts, count])]
                costs = [one for one in prices if one is not None]
                if len(costs) == len(prices) and (best is None or sum(costs) < best):
                    best = sum(costs)
        return best


@pytest.mark.parametrize("seed", range(6))
def test_the_cheapest_routes_are_found(seed: int) -> None:
    fleet = Fleet(seed, 5)
    for result in (fleet.model().solve(), fleet.model().solve(learn=False)):
        assert (result.objective if result else None) == fleet.cheapest()


def test_wrong_graphs_are_refused_with_their_place() -> None:
    model = Model()
    b = [model.bool_var(f"b{i}") for i in range(4)]
    x = model.int_var("x", 0, 9)
    with pytest.raises(ModelError, match=r"routes: no arc leaves or enters the depot 'home'"):
        routes([("a", "b", b[0]), ("b", "a", b[1])], "home")
    with pytest.raises(ModelError, match=r"no arc leads from the depot 0 to itself"):
        routes([(0, 0, b[0]), (0, 1, b[1]), (1, 0, b[2])])
    with pytest.raises(ModelError, match=r"two arcs lead from node 1 to itself"):
        circuit([(1, 1, b[0]), (1, 1, b[1])])
    with pytest.raises(ModelError, match=r"circuit: the literals of arcs are conditions"):
        circuit([(0, 1, x), (1, 0, b[0])])
    with pytest.raises(ModelError, match=r"an arc is \(tail, head, literal\)"):
        routes([(0, 1), (1, 0)])  # type: ignore[list-item]
    arcs = [(0, 1, b[0]), (1, 0, b[1]), (0, 2, b[2]), (2, 0, b[3])]
    with pytest.raises(ModelError, match=r"along: a value for node 2 is missing"):
        along(arcs, {1: x}, [1, 1, 1, 1], 0)
    with pytest.raises(ModelError, match=r"along: there are 4 arcs and 3 steps"):
        along(arcs, [0, x, x], [1, 1, 1], 0)
    with pytest.raises(ModelError, match=r"a step for the arc \(0, 2\) is missing"):
        along(arcs, [0, x, x], {(0, 1): 2}, 0)
