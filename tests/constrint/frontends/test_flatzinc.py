"""FlatZinc: MiniZinc's output, read, solved and printed."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from constrint import ParseError, Restarts
from constrint.cli.flatzinc import app, description, write_description
from constrint.cli.flatzinc_answers import MiniZincOptions, lines, restarts, shown
from constrint.frontends.flatzinc import read_flatzinc
from constrint.model import Model

SEND = """
predicate fzn_all_different_int(array [int] of var int: x);
array [1..4] of int: C_ = [1000,100,10,1];   % comment
var 1..9: S:: output_var;
var 0..9: E; var {0,5,6,9}: N; var 0..9: D; var 1..9: M; var 0..9: O; var 0..9: R; var 0..9: Y;
var 0..99999: sum:: is_defined_var;
array [1..8] of var int: all:: output_array([1..8]) = [S,E,N,D,M,O,R,Y];
constraint fzn_all_different_int(all);
constraint int_lin_eq([1000,91,-90,1,-9000,-900,10,-1],[S,E,N,D,M,O,R,Y],0);
constraint int_lin_eq([1,-1000,-100,-10,-1],[sum,S,E,N,D],0):: defines_var(sum);
constraint int_le(sum, 9999);
solve satisfy;
"""


def output(text: str, **options: Any) -> list[str]:
    return list(lines(read_flatzinc(text), MiniZincOptions(**options)))


def test_a_puzzle() -> None:
    found = output(SEND, all_solutions=True)
    assert found == ["S = 9;", "all = array1d(1..8, [9, 5, 6, 7, 1, 0, 8, 2]);", "----------", "=========="]
    assert "sum" not in read_flatzinc(SEND).model.variables


def brute(condition: Callable[..., Any], lo: Any = -4, hi: Any = 5) -> int:
    return sum(condition(x, y, z) for x in range(lo, hi) for y in range(lo, hi) for z in range(lo, hi))


def trunc(x: int, y: int) -> int:
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


@pytest.mark.parametrize(
    ("constraint", "condition"),
    [
        ("int_div(x,y,z)", lambda x, y, z: y != 0 and trunc(x, y) == z),
        ("int_mod(x,y,z)", lambda x, y, z: y != 0 and x - y * trunc(x, y) == z),
        ("int_times(x,y,z)", lambda x, y, z: x * y == z),
        ("int_pow(x,y,z)", lambda x, y, z: x**y == z if y >= 0 else x != 0 and trunc(1, x**-y) == z),
        ("int_max(x,y,z)", lambda x, y, z: max(x, y) == z),
        ("array_int_minimum(z,[x,y])", lambda x, y, z: min(x, y) == z),
        ("array_var_int_element(x,[y,3,z],2)", lambda x, y, z: x in (1, 2, 3) and (y, 3, z)[x - 1] == 2),
        ("array_int_element(x,[2,3,-1],z)", lambda x, y, z: x in (1, 2, 3) and (2, 3, -1)[x - 1] == z),
        ("int_lin_le([2,-1,1],[x,y,z],3)", lambda x, y, z: 2 * x - y + z <= 3),
        ("set_in(x,{-3,1,4})", lambda x, y, z: x in (-3, 1, 4)),
        ("set_in(x,2..3)", lambda x, y, z: x in (2, 3)),
        ("fzn_table_int([x,z],[1,2,-1,3])", lambda x, y, z: (x, z) in ((1, 2), (-1, 3))),
    ],
)
def test_constraints_mean_what_minizinc_says(constraint: str, condition: Callable[..., Any]) -> None:
    declared = "var -4..4: x:: output_var; var -4..4: y:: output_var; var -4..4: z:: output_var;\n"
    assert Model.of(
        read_flatzinc(f"{declared} constraint {constraint}; solve satisfy;").model
    ).count() == brute(condition)
    # The same, as a definition of z or b that search does not decide, and reified.
    name, _, args = constraint.partition("(")
    reified = f"{declared} var bool: b; constraint {name}_reif({args[:-1]},b); constraint bool_eq(b,true);"
    reified += "solve satisfy;"
    assert Model.of(read_flatzinc(reified).model).count() == brute(condition)
    defined = f"{declared} constraint {constraint} :: defines_var(z); solve satisfy;"
    found = [line for line in output(defined, all_solutions=True) if line.startswith("---")]
    assert len(found) == brute(condition)


@pytest.mark.parametrize(
    ("uses", "bounds", "stays"), [(1, "-9..9", False), (2, "-9..9", True), (2, "", False), (2, "-9..", False)]
)
def test_sums_that_several_constraints_use_stay_variables(uses: int, bounds: str, stays: bool) -> None:
    """Written out in each, differences of two variables would become sums of many."""
    declared = "var 0..4: x:: output_var; var 0..4: y:: output_var; var -9..9: z:: output_var;"
    used = ["constraint int_lin_le([1,-1],[s,z],1);", "constraint int_lin_le([1,-1],[z,s],2);"][:uses]
    kind = f"var {bounds}" if bounds and not bounds.endswith("..") else "var int"
    text = f"{declared} {kind}: s:: is_defined_var; "
    text += "constraint int_lin_eq([1,1,-1],[x,y,s],0):: defines_var(s);" + "".join(used) + "solve satisfy;"
    flat = read_flatzinc(text)
    assert ("s" in flat.model.variables) is stays
    holds = [lambda s, z: s - z <= 1, lambda s, z: z - s <= 2][:uses]
    rows = product(range(5), range(5), range(-9, 10))
    solutions = sum(all(hold(x + y, z) for hold in holds) for x, y, z in rows)  # type: ignore[no-untyped-call]
    assert Model.of(flat.model).count() == solutions


BOOLS = "var bool: a; var bool: b; var bool: c;"


@pytest.mark.parametrize(
    ("constraint", "condition"),
    [
        ("bool_and(a,b,c)", lambda a, b, c: (a and b) == c),
        ("bool_xor(a,b,c)", lambda a, b, c: (a != b) == c),
        ("bool_clause([a],[b,c])", lambda a, b, c: a or not b or not c),
        ("bool_clause_reif([a],[b],c)", lambda a, b, c: (a or not b) == c),
        ("array_bool_or([a,b],c)", lambda a, b, c: (a or b) == c),
        ("array_bool_xor([a,b,c])", lambda a, b, c: (a + b + c) % 2 == 1),
        ("bool_lin_le([2,1,-1],[a,b,c],1)", lambda a, b, c: 2 * a + b - c <= 1),
        ("bool_le_imp(a,b,c)", lambda a, b, c: not c or a <= b),
    ],
)
def test_booleans(constraint: str, condition: Callable[..., Any]) -> None:
    model = Model.of(read_flatzinc(f"{BOOLS} constraint {constraint}; solve satisfy;").model)
    truths = (False, True)
    assert model.count() == sum(condition(a, b, c) for a in truths for b in truths for c in truths)


def test_optimisation_and_what_is_printed() -> None:
    text = """
    var 0..5: x; var 0..5: y; var bool: big:: output_var; var 0..1: i;
    var int: goal:: output_var:: is_defined_var;
    array [1..2] of var int: both:: output_array([1..2,1..1]) = [x,y];
    constraint int_lin_le([3,2],[x,y],12);
    constraint int_le_reif(3,y,big):: defines_var(big);
    constraint bool2int(big,i);
    constraint int_lin_eq([-1,2,3,1],[goal,x,y,i],0):: defines_var(goal);
    solve :: seq_search([int_search([x],first_fail,indomain_max,complete),
                         int_search([y],input_order,indomain_min)]) maximize goal;
    """
    flat = read_flatzinc(text)
    assert sorted(flat.model.variables) == ["x", "y"]
    assert [(len(exprs), *rules) for exprs, *rules in flat.searched] == [
        (1, "first_fail", "indomain_max"),
        (1, "input_order", "indomain_min"),
    ]
    found = output(text, statistics=True)
    assert found[:5] == [
        "big = true;",
        "goal = 16;",
        "both = array2d(1..2, 1..1, [0, 5]);",
        "----------",
        "==========",
    ]
    assert any(line.startswith("%%%mzn-stat: nodes=") for line in found)


def test_no_solution_and_no_bounds() -> None:
    assert output("var 1..3: x; constraint int_lt(x,1); solve satisfy;") == ["=====UNSATISFIABLE====="]
    assert output("var 1..3: x; var 4..2: y; solve satisfy;") == ["=====UNSATISFIABLE====="]
    assert "=====UNKNOWN=====" in output(
        "var int: x; var int: y; constraint int_times(x,x,y); solve maximize y;"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("var 1..3: x;\nconstraint int_lt(x,q); solve satisfy;", "2:1: 'q' is not declared"),
        ("var 1..3: x;\n\nconstraint fly(x); solve satisfy;", "3:1: the constraint 'fly'"),
        ("var 1.5..3.0: x; solve satisfy;", "floats"),
        ("var 1..3: x solve satisfy;", "1:13: this is not FlatZinc"),
        ("var 1..3: x; var 1..3: x; solve satisfy;", "twice"),
        (
            "array [1..2] of int: a = [1,2];\nvar 1..3: x; constraint int_lt(x,a[3]); solve satisfy;",
            "outside 1..2",
        ),
        ("var 1..3: x;\nconstraint int_lin_eq([1,2],[x],3); solve satisfy;", "2:1"),
        ("var 1..3: x;\nconstraint int_eq(x); solve satisfy;", "2:1: 'int_eq' has arguments"),
    ],
)
def test_mistakes_have_a_place(text: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        read_flatzinc(text)
    assert message in str(caught.value)


def test_the_command(tmp_path: Path) -> None:
    runner = CliRunner()
    file = tmp_path / "send.fzn"
    file.write_text(SEND)
    answer = runner.invoke(app, ["-a", str(file)])
    assert answer.exit_code == 0
    assert answer.stdout.splitlines()[-1] == "=========="
    broken = runner.invoke(app, ["-"], input="nonsense")
    assert broken.exit_code == 2
    assert "<stdin>:1:" in broken.output


def test_the_description_for_minizinc(tmp_path: Path) -> None:
    place = write_description(tmp_path)
    assert place.name == "constrint.msc"
    assert description()["mznlib"].endswith("minizinc")  # type: ignore[attr-defined]


LADDER = """
var 0..9: x :: output_var; var 0..9: y :: output_var; var 0..18: goal :: output_var :: is_defined_var;
constraint int_lin_le([1,2],[x,y],13);
constraint int_lin_eq([-1,1,1],[goal,x,y],0) :: defines_var(goal);
solve :: int_search([goal,x],first_fail,indomain_min,complete) :: restart_geometric(1.5,100) maximize goal;
"""


def test_annotations_say_how_to_search() -> None:
    ladder = LADDER.replace(" :: restart_geometric(1.5,100)", "")
    assert ladder != LADDER
    found = output(ladder, all_solutions=True)
    assert goals_of(found) == list(range(12)), "goal itself is decided, its least value first"
    assert found[-1] == "=========="
    assert output(ladder, intermediate=True) == found
    only_best = output(ladder)
    assert only_best == found[-5:]
    freely = output(ladder, all_solutions=True, free=True)
    assert "goal = 11;" in freely
    assert len(freely) < len(found)


def test_restarts_leave_larger_steps_to_the_portfolio() -> None:
    goals = goals_of(output(LADDER, all_solutions=True))
    assert goals[0] == 0, "goal itself is decided, its least value first"
    assert goals == sorted(set(goals))
    assert goals[-1] == 11


def goals_of(lines: list[str]) -> list[int]:
    return [int(line.removeprefix("goal = ")[:-1]) for line in lines if line.startswith("goal")]


@pytest.mark.parametrize(
    ("selector", "first"),
    [("indomain_max", 9), ("indomain_median", 4), ("indomain_min", 0), ("indomain_reverse_split", 9)],
)
def test_value_selectors_of_annotations(selector: str, first: int) -> None:
    text = f"var 0..9: x :: output_var; solve :: int_search([x],input_order,{selector},complete) satisfy;"
    assert output(text)[0] == f"x = {first};"


def test_restarts_of_annotations() -> None:
    text = "var 0..9: x; solve :: restart_luby(50) maximize x;"
    assert restarts(read_flatzinc(text), MiniZincOptions()) == Restarts("luby", 50, alone=False)
    assert restarts(read_flatzinc(LADDER), MiniZincOptions()) == Restarts("geometric", 100, 1.5, alone=False)
    assert restarts(read_flatzinc(SEND), MiniZincOptions()) is None


@pytest.mark.parametrize(
    ("partial", "allowed"),
    [
        ("int_div(7, x, z)", [-1, 1, 2]),
        ("int_mod(7, x, z)", [-1, 1, 2]),
        ("array_int_element(x, [5, 7], z)", [1, 2]),
    ],
)
def test_what_a_variable_is_must_be_defined_even_where_nothing_uses_it(
    partial: str, allowed: list[int]
) -> None:
    flat = read_flatzinc(
        "var -1..2: x :: output_var;\nvar int: z :: is_defined_var;\n"
        "var bool: b :: is_defined_var :: output_var;\n"
        f"constraint {partial} :: defines_var(z);\n"
        "constraint int_le_reif(z, 5, b) :: defines_var(b);\nsolve satisfy;"
    )
    assert sorted(result["x"] for result in Model.of(flat.model).iter_solutions()) == allowed
    assert all(list(shown(flat.outputs, result)) for result in Model.of(flat.model).iter_solutions())


def test_numbers_may_begin_with_zeros() -> None:
    flat = read_flatzinc("var -9..09: x;\nconstraint int_le(x, -08);\nsolve satisfy;")
    assert sorted(result["x"] for result in Model.of(flat.model).iter_solutions()) == [-9, -8]


def test_arrays_of_every_kind() -> None:
    text = """
    array [1..3] of int: c = [-1, 0,2];
    array [1..2] of bool: flags = [true,false];
    array [1..2] of int: big = [0x10, 3];
    array [1..1] of int: one = [7];
    array [1..0] of int: none = [];
    var -9..9: x; var -9..9: y; var bool: b;
    array [1..3] of var int: all:: output_array([1..3]) = [x , y,c[1]];
    array [1..2] of var bool: mixed:: output_array([1..2]) = [b,true];
    constraint int_lin_eq(big, [x,y], 14);
    constraint int_lin_eq([1,-1], [x, y], 2);
    constraint array_bool_and([b , flags[1]], true);
    constraint int_le(x, one[1]);
    solve satisfy;
    """
    assert output(text.replace("14", "-6"), all_solutions=True)[:2] == [
        "all = array1d(1..3, [0, -2, -1]);",
        "mixed = array1d(1..2, [true, true]);",
    ]
    assert output(text, all_solutions=True) == ["=====UNSATISFIABLE====="]


@pytest.mark.parametrize("entries", ["[1,]x", "[1,2", "[1 2]", "[1,2a]", "[a,-b]"])
def test_arrays_that_are_none(entries: str) -> None:
    with pytest.raises(ParseError, match="this is not FlatZinc"):
        read_flatzinc(f"array [1..2] of int: c = {entries};\nsolve satisfy;")


def test_one_solution_is_found_without_bounds() -> None:
    text = """
    var int: x:: output_var; var int: y;
    constraint int_lin_eq([3,-5],[x,y],1); constraint int_le(100,x);
    solve satisfy;
    """
    first, *rest = output(text)
    value = int(first.removeprefix("x = ").removesuffix(";"))
    assert value >= 100
    assert value % 5 == 2
    assert rest == ["----------"]


@pytest.mark.parametrize("values", [(True, False, True), (False, False), (True, True), (False,)])
def test_entries_of_lists_of_truth_values(values: tuple[bool, ...]) -> None:
    array = str([str(value).lower() for value in values]).replace("'", "")
    text = f"var 0..4: i; var bool: b; constraint array_bool_element(i, {array}, b); solve satisfy;"
    found = {(r["i"], bool(r["b"])) for r in Model.of(read_flatzinc(text).model).iter_solutions()}
    assert found == set(enumerate(values, 1))


def test_entries_of_lists_of_conditions() -> None:
    text = """
    var 0..3: i; var bool: p; var bool: q; var bool: b;
    constraint array_var_bool_element(i, [p, q], b);
    solve satisfy;
    """
    found = {tuple(r[name] for name in "ipqb") for r in Model.of(read_flatzinc(text).model).iter_solutions()}
    assert found == {(i, p, q, (p, q)[i - 1]) for i in (1, 2) for p in (0, 1) for q in (0, 1)}
    only = text.replace("], b)", "], true)")
    found = {tuple(r[name] for name in "ipq") for r in Model.of(read_flatzinc(only).model).iter_solutions()}
    assert found == {(1, 1, 0), (1, 1, 1), (2, 0, 1), (2, 1, 1)}


def set_access(definitions: str, condition: str) -> str:
    """`y in [{1, 3}, {}, {2}][x]` as MiniZinc writes it, and what else is said of it."""
    return f"""
    array [1..3] of bool: in1 = [true, false, true];
    array [1..3] of bool: in2 = [false, false, false];
    array [1..3] of bool: in3 = [false, true, false];
    var 0..4: x:: output_var; var 0..4: y:: output_var;
    var bool: b1:: var_is_introduced; var bool: b2:: var_is_introduced; var bool: b3:: var_is_introduced;
    {definitions}
    {condition}
    solve satisfy;
    """


DEFINITIONS = "\n".join(
    f"constraint array_bool_element(y, in{i}, b{i}):: defines_var(b{i});" for i in (1, 2, 3)
)


def test_an_entry_of_a_list_of_sets_is_a_table() -> None:
    from constrint.expr import Table

    text = set_access(DEFINITIONS, "constraint array_var_bool_element(x, [b1, b2, b3], true);")
    flat = read_flatzinc(text)
    assert set(flat.model.variables) == {"x", "y"}
    assert any(isinstance(constraint.expr, Table) for constraint in flat.model.constraints)
    solutions = {(r["x"], r["y"]) for r in Model.of(flat.model).iter_solutions()}
    assert solutions == {(1, 1), (1, 3), (3, 2)}


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("constraint bool_eq(b1, false);", [2]),  # and 0 and 4 lie outside the lists
        ("constraint bool_clause([b1, b3], []);", [1, 2, 3]),
        ("constraint array_var_bool_element(x, [b1, b2, b3], b3);", [1, 2, 3]),
        ("", [1, 2, 3]),
    ],
)
def test_an_index_of_a_list_of_constants_lies_inside_whatever_the_entry_is_used_for(
    condition: str, expected: list[int]
) -> None:
    flat = read_flatzinc(set_access(DEFINITIONS, condition))
    assert sorted({r["y"] for r in Model.of(flat.model).iter_solutions()}) == expected
    apart = read_flatzinc(set_access(re.sub("::[^;]*", "", DEFINITIONS), condition))
    same = {tuple(r[name] for name in "xy") for r in Model.of(apart.model).iter_solutions()}
    assert {tuple(r[name] for name in "xy") for r in Model.of(flat.model).iter_solutions()} == same


def test_results_have_the_entries_of_printed_arrays() -> None:
    """Also those that a constraint defines, or that are equal to another variable."""
    text = """
    var bool: b; var 0..1: x :: is_defined_var; var 0..5: y; var 0..9: z :: is_defined_var;
    var 0..5: same = y;
    array [1..5] of var int: q :: output_array([1..5]) = [x,y,3,z,same];
    constraint bool2int(b,x) :: defines_var(x);
    constraint int_lin_eq([1,-1,-1],[z,x,y],0) :: defines_var(z);
    solve maximize z;
    """
    found = Model.from_text(text, dialect="flatzinc").solve()
    assert found.values == {"b": 1, "y": 5, "x": 1, "z": 6, "same": 5}
