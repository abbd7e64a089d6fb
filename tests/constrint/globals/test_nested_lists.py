"""Lists within lists of expressions are refused, and states of automata may be any hashable values."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

import constrint as ci
from constrint import IntVar, Model, ModelError
from constrint.globals import GLOBALS

M = Model()
X = [M.int_var(f"x{i}", 0, 3) for i in range(4)]
B = [M.bool_var(f"b{i}") for i in range(4)]
ARCS = [[0, 0, 0], [0, 1, 0]]
CALLS = {
    "all_different": [X],
    "all_different_except": [X, [0]],
    "inverse": [X, X],
    "circuit": [X],
    "subcircuit": [X],
    "increasing": [X],
    "decreasing": [X],
    "lex_less": [X, X],
    "lex_less_equal": [X, X],
    "value_precede": [[0, 1], X],
    "count": [X, 1],
    "among": [X, [1]],
    "nvalue": [X],
    "global_cardinality": [X, {1: X[0]}],
    "cumulative": [X, [1, 1, 1, 1], [1, 1, 1, 1], 2],
    "no_overlap": [X, [1, 1, 1, 1]],
    "diffn": [X, X, [1, 1, 1, 1], [1, 1, 1, 1]],
    "cumulative_optional": [X, [1, 1, 1, 1], [1, 1, 1, 1], 2, B],
    "no_overlap_optional": [X, [1, 1, 1, 1], B],
    "regular": [X, ARCS, 0],
    "cost_regular": [X, [[0, 0, 0, 1]], 0, None, 3],
    "bin_packing": [X, [1, 1, 1, 1], X],
    "vector_bin_packing": [X, [[1], [1], [1], [1]], [[3], [3]]],
    "knapsack": [X, [1, 1, 1, 1], [1, 1, 1, 1], 3, 3],
    "table": [X, [[0, 1, 2, 3]]],
    "at_least_one": [B],
    "at_most_one": [B],
    "exactly_one": [B],
    "sum_": [X],
    "max_": [X],
    "min_": [X],
    "all_of": [B],
    "any_of": [B],
    "element": [X, X[0]],
}
PUBLIC = {name: arguments for name, arguments in CALLS.items() if hasattr(ci, name)}


def is_of_expressions(argument: list[IntVar | int]) -> bool:
    return isinstance(argument, list) and argument is not ARCS and not isinstance(argument[0], list)


@pytest.mark.parametrize("name", PUBLIC)
def test_lists_within_lists_are_refused(name: str) -> None:
    arguments, call = PUBLIC[name], getattr(ci, name)
    call(*arguments)  # type: ignore[misc]
    for place, argument in enumerate(arguments):  # type: ignore[arg-type, var-annotated]
        if not is_of_expressions(argument):
            continue
        for nested in (
            [argument],
            [argument[:1], argument[1:]],
            [tuple(argument)],
            [*argument[1:], argument[:1]],
        ):
            changed = [*arguments[:place], nested, *arguments[place + 1 :]]  # type: ignore[index]
            with pytest.raises(ModelError) as caught:
                call(*changed)
            assert not isinstance(caught.value.__cause__, TypeError)


def test_the_calls_are_those_of_all_global_constraints() -> None:
    python = {"element_2d", "arc_circuit", "routes"}  # a matrix is a list of lists, arcs are triples
    assert {name for name in GLOBALS if hasattr(ci, name)} - set(PUBLIC) <= python


def test_arcs_are_for_circuit_only() -> None:
    with pytest.raises(ModelError, match=r"successors has an arc \(0, 1, b0\).*give the arcs to circuit"):
        ci.subcircuit([(0, 1, B[0]), (1, 2, B[1]), (2, 0, B[2])])  # type: ignore[list-item]
    with pytest.raises(ModelError, match="several axes"):
        ci.circuit(np.array([[0, 1], [1, 0]]))


def test_rows_of_arrays_may_stay() -> None:
    model = Model()
    x = model.int_vars("x", (2, 2), 0, 3)
    model.add(ci.all_different(x), ci.all_different([x[0], x[1]]), ci.all_different(list(x.flat)))
    assert model.count() == 24


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("circuit([[0, 1, a], [1, 2, b], [2, 0, c]])", "3:9"),
        ("all_different([[a, b], [b, c]])", "3:15"),
        ("all_different([[0, 1], [1, 0]])", "3:15"),
        ("sum([[a, b], [c, a]]) >= 2", "3:5"),
        ("count([[a, b], [c, a]], 1) >= 2", "3:7"),
        ("lex_less([a, [b]], [b, c])", "3:10"),
    ],
)
def test_lists_within_lists_are_refused_in_texts(text: str, place: str) -> None:
    with pytest.raises(ci.ParseError) as caught:
        Model.from_text(f"a in 0..3\nb, c in 0..3\n{text}")
    assert f":{place}" in str(caught.value)
    message = "takes the successor of each node" if text.startswith("circuit") else "one list is needed here"
    assert message in str(caught.value)


STATES = {
    "integers": (0, 1),
    "strings": ("a", "b"),
    "tuples": (("a",), ("b", 3)),
    "tuples of integers": ((0, 1), (1, 0)),
    "mixed": (("a",), "b"),
    "sets": (frozenset(), frozenset({1})),
    "none": (None, ()),
}


@pytest.mark.parametrize("kind", STATES)
@pytest.mark.parametrize("is_mapping", [True, False])
def test_states_are_any_hashable_values(kind: str, is_mapping: bool) -> None:
    p, q = STATES[kind]
    rules = {(p, 0): p, (p, 1): q, (q, 0): p}
    words = [word for word in product((0, 1), repeat=3) if (1, 1) not in pairwise(word)]
    given = rules if is_mapping else [(*pair, end) for pair, end in rules.items()]
    for accepting, expected in (
        (None, words),
        ([p], [word for word in words if word[-1] == 0]),
        ([q], [word for word in words if word[-1] == 1]),
        ({p, q}, words),
    ):
        model = Model()
        model.add(ci.regular(model.int_vars("x", 3, 0, 1), given, p, accepting))
        assert model.count() == len(expected)
        priced = Model()
        x, cost = priced.int_vars("x", 3, 0, 1), priced.int_var("cost", 0, 99)
        costs = {pair: (end, 1 + 2 * pair[1]) for pair, end in rules.items()}
        listed = costs if is_mapping else [(*pair, *end) for pair, end in costs.items()]
        priced.add(ci.cost_regular(x, listed, p, accepting, cost))
        found = sorted(result["cost"] for result in priced.iter_solutions())
        assert found == sorted(3 + 2 * sum(word) for word in expected)


def test_several_runs_of_states_that_are_tuples() -> None:
    model = Model()
    p, q = ("p", 0), ("q", 1)
    arcs = [(p, 0, p), (p, 1, p), (p, 1, q)]  # the last value is 1
    model.add(ci.regular(model.int_vars("x", 4, 0, 1), arcs, p, [q]))
    assert model.count() == 8


def test_one_accepting_state_that_is_a_tuple() -> None:
    model = Model()
    p, q = ("a",), ("b", "c")
    x = model.int_vars("x", 2, 0, 1)
    model.add(ci.regular(x, {(p, 0): p, (p, 1): q}, p, q))
    assert model.count() == 1
    ambiguous = {((0, 1), 0): (0, 1), (0, 1): 1, ((0, 1), 1): 0}
    with pytest.raises(ModelError, match=r"write the accepting states in a list, \[\(0, 1\)\]"):
        ci.regular(x, ambiguous, (0, 1), (0, 1))
    with pytest.raises(ModelError, match="hashable"):
        ci.regular(x, [([1], 0, [1])], [1])  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="no transition has the accepting state 'zz'"):
        ci.regular(x, {(p, 0): p}, p, ["zz"])
