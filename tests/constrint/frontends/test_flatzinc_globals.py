"""Predicates that the MiniZinc library leaves to solvers have the meaning that MiniZinc defines."""

from __future__ import annotations

import re
from importlib.resources import files
from itertools import pairwise, product
from typing import Any

import pytest

from constrint.errors import ParseError
from constrint.frontends.flatzinc import read_flatzinc
from constrint.frontends.flatzinc.builtins import relation
from constrint.frontends.flatzinc.library import GLOBALS
from constrint.model import Model

LIBRARY = [
    place for place in files("constrint").joinpath("minizinc").iterdir() if place.name.endswith(".mzn")
]
OPEN = sorted(
    name
    for place in LIBRARY
    for name, body in re.findall(r"predicate (\w+)\(([^;]*);", place.read_text())
    if "=" not in body
)


def packed(bins: Any, sizes: Any, count: int) -> Any:
    return [sum(size for one, size in zip(bins, sizes, strict=True) if one == i) for i in range(count)]


def overlapping(starts: Any, durations: Any, demands: Any) -> Any:
    return max(
        sum(h for s, d, h in zip(starts, durations, demands, strict=True) if s <= t < s + d)
        for t in range(-1, 9)
    )


def one_cycle(x: Any) -> Any:
    seen, node = set(), 0
    while node not in seen:
        seen.add(node)
        if not 0 <= x[node] < len(x):
            return False
        node = x[node]
    return len(seen) == len(x) and node == 0


def accepted(word: Any) -> Any:
    """At most one 2, which is not last (states 1 and 2; 3 after a 2 that must not be the end)."""
    state = 1
    for symbol in word:
        if not 1 <= symbol <= 2:
            return False
        state = [[1, 3], [2, 0], [2, 0]][state - 1][symbol - 1]
        if state == 0:
            return False
    return state in (1, 2)


def precedes(order: Any, x: Any) -> bool:
    firsts = [x.index(value) if value in x else len(x) for value in order]
    return all(a < b or b == len(x) for a, b in pairwise(firsts))


def closed_counts(x: Any, cover: Any, counts: Any) -> Any:
    return all(v in cover for v in x) and [x.count(v) for v in cover] == counts


CASES = {
    "fzn_all_different_int": ("[x,y,z]", lambda x, y, z: len({x, y, z}) == 3),
    "fzn_alldifferent_except": (
        "[x,y,z],{1,3}",
        lambda *x: all(a != b or a in (1, 3) for i, a in enumerate(x) for b in x[:i]),
    ),
    "fzn_alldifferent_except_0": (
        "[x,y,z,1]",
        lambda *x: all(a != b or a == 0 for i, a in enumerate((*x, 1)) for b in x[:i]),
    ),
    "fzn_disjunctive": ("[x,y,z],[2,0,1]", lambda x, y, z: x + 2 <= z or z + 1 <= x),
    "fzn_cost_regular": (
        "[x,y],3,2,[1,3,2,0,2,0],1,{1,2},[1,2,1,9,1,9],z",
        lambda x, y, z: accepted((x, y)) and z == [1, 2][x - 1] + [1, 2][y - 1],
    ),
    "constrint_subcircuit": (
        "[x,y,z]",
        lambda *x: sorted(x) == [0, 1, 2],
    ),
    "fzn_table_int": ("[x,y],[1,2,0,3]", lambda x, y, z: (x, y) in ((1, 2), (0, 3))),
    "fzn_cumulative": (
        "[x,y,z],[2,1,3],[1,2,1],2",
        lambda x, y, z: overlapping((x, y, z), (2, 1, 3), (1, 2, 1)) <= 2,
    ),
    "fzn_disjunctive_strict": (
        "[x,y],[2,0]",
        lambda x, y, z: x + 2 <= y or y <= x,
    ),
    "fzn_diffn": (
        "[x,y],[z,1],[1,2],[2,1]",
        lambda x, y, z: x + 1 <= y or y + 2 <= x or z + 2 <= 1 or z >= 2,
    ),
    "fzn_lex_less_int": ("[x,y],[z]", lambda x, y, z: [x, y] < [z]),
    "fzn_lex_lesseq_int": ("[x],[x,z]", lambda x, y, z: [x] <= [x, z]),
    "fzn_increasing_int": ("[x,y,z]", lambda x, y, z: x <= y <= z),
    "fzn_decreasing_int": ("[x,y,z]", lambda x, y, z: x >= y >= z),
    "fzn_strictly_increasing_int": ("[x,y,z]", lambda x, y, z: x < y < z),
    "fzn_strictly_decreasing_int": ("[x,y,z]", lambda x, y, z: x > y > z),
    "fzn_count_eq": ("[x,1,y],z,2", lambda x, y, z: [x, 1, y].count(z) == 2),
    "fzn_among": ("z,[x,y,1],{1,3}", lambda x, y, z: sum(v in (1, 3) for v in (x, y, 1)) == z),
    "fzn_nvalue": ("z,[x,y,x]", lambda x, y, z: len({x, y}) == z),
    "fzn_global_cardinality": (
        "[x,y,2],[1,2],[0,z]",
        lambda x, y, z: [[x, y, 2].count(v) for v in (1, 2)] == [0, z],
    ),
    "fzn_global_cardinality_closed": (
        "[x,y,2],[1,2],[1,z]",
        lambda x, y, z: closed_counts([x, y, 2], [1, 2], [1, z]),
    ),
    "fzn_global_cardinality_low_up": (
        "[x,y,z],[1,2],[1,0],[2,1]",
        lambda *x: 1 <= x.count(1) <= 2 and x.count(2) <= 1,
    ),
    "fzn_global_cardinality_low_up_closed": (
        "[x,y,z],[1,3],[1,0],[2,1]",
        lambda *x: 1 <= x.count(1) <= 2 and x.count(3) <= 1 and set(x) <= {1, 3},
    ),
    "fzn_regular": ("[x,y,z],3,2,[1,3,2,0,2,0],1,{1,2}", lambda *x: accepted(x)),
    "fzn_knapsack": (
        "[3,2],[1,4],[x,y],z,9",
        lambda x, y, z: min(x, y) >= 0 and 3 * x + 2 * y == z and x + 4 * y == 9,
    ),
    "fzn_value_precede_int": ("1,3,[x,y,z]", lambda *x: precedes((1, 3), x)),
    "fzn_value_precede_chain_int": ("[2,0,1],[x,y,z]", lambda *x: precedes((2, 0, 1), x)),
    "constrint_circuit": ("[x,y,z]", lambda *x: one_cycle(x)),
    "constrint_inverse": ("[x,1],[y,z]", lambda x, y, z: (x, y, z) == (0, 0, 1)),
    "constrint_bin_packing_capa": (
        "[3,4],[x,y,z],[2,3,1]",
        lambda *x: (
            set(x) <= {0, 1} and all(a <= b for a, b in zip(packed(x, (2, 3, 1), 2), (3, 4), strict=True))
        ),
    ),
    "constrint_bin_packing_load": (
        "[z,2],[x,y,0],[2,1,1]",
        lambda x, y, z: {x, y} <= {0, 1} and packed((x, y, 0), (2, 1, 1), 2) == [z, 2],
    ),
}


def test_every_open_predicate_is_known() -> None:
    assert OPEN
    assert [name for name in OPEN if relation(name, GLOBALS) is None] == []
    assert sorted(CASES) == sorted(set(GLOBALS) - {"fzn_table_bool"})


@pytest.mark.parametrize("name", CASES)
def test_a_global_and_its_truth_value(name: str) -> None:
    args, holds = CASES[name]
    values = range(-1, 5)
    expected = sum(bool(holds(x, y, z)) for x, y, z in product(values, repeat=3))  # type: ignore[no-untyped-call]
    declared = "var -1..4: x; var -1..4: y; var -1..4: z; var bool: b;"
    required = Model.of(read_flatzinc(f"{declared} constraint {name}({args}); solve satisfy;").model)
    assert required.count() == 2 * expected
    for truth, count in (("true", expected), ("false", 6**3 - expected)):
        text = f"{declared} constraint {name}_reif({args},b); constraint bool_eq(b,{truth}); solve satisfy;"
        assert Model.of(read_flatzinc(text).model).count() == count


def test_two_counts_of_one_value_are_an_error() -> None:
    text = "var 0..4: x; constraint fzn_global_cardinality([x,x],[1,1],[0,2]); solve satisfy;"
    with pytest.raises(ParseError, match=r"1:1: .* a value is listed twice"):
        read_flatzinc(text)
