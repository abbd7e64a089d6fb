"""CPMpy's solution hints and MiniZinc's warm starts reach the search."""

from __future__ import annotations

import cpmpy as cp
import pytest

from constrint.frontends.flatzinc import read_flatzinc
from constrint.integrations.cpmpy import CPM_constrint
from constrint.model import Model


def test_cpmpy_hints_are_followed_and_replaced() -> None:
    x = cp.intvar(0, 9, shape=3, name="x")
    b = cp.boolvar(name="b")
    solver = CPM_constrint(cp.Model(cp.sum(x) == 14, b == (x[0] > 4)))
    solver.solution_hint([x[0], x[1], x[2], ~b], [3, 9, 2, True])
    assert solver.solve()
    assert [*x.value(), b.value()] == [3, 9, 2, False]
    solver.solution_hint([x, b], [[7, 7, 0], True])
    assert solver.solve()
    assert [*x.value(), b.value()] == [7, 7, 0, True]
    with pytest.raises(ValueError, match="a hint of 2 variables needs as many values"):
        solver.solution_hint(x[:2], [1])


WARM = """
var 0..9: x :: output_var;
var 0..9: y :: output_var;
var bool: b :: output_var;
array [1..2] of var int: xs = [x, y];
constraint int_lin_eq([1, 1], xs, 11);
solve :: {annotations}
satisfy;
"""


@pytest.mark.parametrize(
    "annotations",
    [
        ":: warm_start(xs, [4, 7]) :: warm_start([b], [true])",
        ":: warm_start_int([x, y, 3], [4, 7, 3]) :: warm_start_bool([b], [true])",
        ":: warm_start_array([warm_start(xs, [4, 7]), warm_start([b], [true])])",
        ":: seq_search([warm_start(xs, [4, 7]), int_search(xs, input_order, indomain_min)])"
        " :: warm_start([b], [true])",
    ],
)
def test_warm_starts_of_flatzinc(annotations: str) -> None:
    flat = read_flatzinc(WARM.replace(":: {annotations}", annotations))
    assert flat.model.hints == {"x": 4, "y": 7, "b": 1}
    assert Model.of(flat.model).solve().to_dict() == {"x": 4, "y": 7, "b": 1}
