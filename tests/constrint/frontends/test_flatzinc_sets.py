"""FlatZinc's sets, as `minizinc -G std` writes them, against their definition by all sets."""

from __future__ import annotations

from itertools import chain, combinations, product
from pathlib import Path

import pytest

from constrint import ParseError
from constrint.cli.flatzinc_answers import MiniZincOptions, lines
from constrint.frontends.flatzinc import read_flatzinc
from constrint.model import Model

CORPUS = Path(__file__).parents[1] / "fuzz" / "corpus" / "flatzinc"
DECLARED = """
var set of 1..3: s; var set of {-1,2,4}: t; var set of 1..4: u; var 0..4: i; var bool: b;
array [1..3] of set of int: A = [1..2,{2,4},1..0]; array [1..3] of var set of 1..4: B = [s,{2,3},u];
set of int: c = {1,3};
"""


def subsets(values: tuple[int, ...]) -> list[frozenset[int]]:
    return [frozenset(one) for n in range(len(values) + 1) for one in combinations(values, n)]


def count(text: str) -> int:
    return Model.of(read_flatzinc(text).model).count()


RELATIONS = {
    "set_eq(s,t)": lambda s, t, u, i: s == t,
    "set_ne(s,u)": lambda s, t, u, i: s != u,
    "set_le(s,t)": lambda s, t, u, i: sorted(s) <= sorted(t),
    "set_lt(s,u)": lambda s, t, u, i: sorted(s) < sorted(u),
    "set_lt(s,c)": lambda s, t, u, i: sorted(s) < [1, 3],
    "set_le({2},s)": lambda s, t, u, i: sorted(s) >= [2],
    "set_subset(s,u)": lambda s, t, u, i: s <= u,
    "set_subset(t,1..3)": lambda s, t, u, i: t <= {1, 2, 3},
    "set_superset(s,t)": lambda s, t, u, i: s >= t,
    "set_superset(s,1..0)": lambda s, t, u, i: True,
    "set_union(s,t,u)": lambda s, t, u, i: s | t == u,
    "set_intersect(s,t,u)": lambda s, t, u, i: s & t == u,
    "set_diff(s,t,u)": lambda s, t, u, i: s - t == u,
    "set_symdiff(s,t,u)": lambda s, t, u, i: s ^ t == u,
    "set_union(s,c,u)": lambda s, t, u, i: s | {1, 3} == u,
    "set_card(s,i)": lambda s, t, u, i: len(s) == i,
    "set_in(i,s)": lambda s, t, u, i: i in s,
    "set_in(2,s)": lambda s, t, u, i: 2 in s,
    "set_in(7,s)": lambda s, t, u, i: False,
    "set_in(i,c)": lambda s, t, u, i: i in {1, 3},
    "set_in(i,A[2])": lambda s, t, u, i: i in {2, 4},
    "array_set_element(i,A,u)": lambda s, t, u, i: 1 <= i <= 3 and ({1, 2}, {2, 4}, set())[i - 1] == u,
    "array_var_set_element(i,B,t)": lambda s, t, u, i: 1 <= i <= 3 and (s, {2, 3}, u)[i - 1] == t,
    "set_eq(B[1],B[2])": lambda s, t, u, i: s == {2, 3},
}


@pytest.mark.parametrize("constraint", RELATIONS)
def test_constraints_on_sets(constraint: str) -> None:
    holds = RELATIONS[constraint]
    rows = list(product(subsets((1, 2, 3)), subsets((-1, 2, 4)), subsets((1, 2, 3, 4)), range(5)))
    expected = sum(holds(*row) for row in rows)  # type: ignore[no-untyped-call]
    assert count(f"{DECLARED} constraint {constraint}; solve satisfy;") == 2 * expected
    name, _, arguments = constraint[:-1].partition("(")
    reified = f"{DECLARED} constraint {name}_reif({arguments},b); solve satisfy;"
    assert count(reified) == len(rows)
    implied = f"{DECLARED} constraint {name}_imp({arguments},b); solve satisfy;"
    assert count(implied) == expected + len(rows)
    defined = (
        f"{DECLARED} constraint {name}_reif({arguments},b):: defines_var(b); constraint bool_eq(b,false);"
    )
    assert count(f"{defined} solve satisfy;") == len(rows) - expected


def test_sets_are_printed_as_minizinc_prints_them() -> None:
    text = "var set of 1..3: s :: output_var; solve satisfy;"
    found = list(lines(read_flatzinc(text), MiniZincOptions(all_solutions=True)))
    shown = {"{}", "1..1", "2..2", "3..3", "1..2", "2..3", "{1,3}", "1..3"}
    assert sorted(found) == sorted([*(f"s = {one};" for one in shown), *["----------"] * 8, "=========="])


def test_sets_in_arrays_are_printed() -> None:
    text = """
    var set of 1..2: s; set of int: c = {1,3}; var set of 0..4: u = c;
    array [1..3] of var set of int: a :: output_array([1..3]) = [s,{5},u];
    constraint set_card(s,2); solve satisfy;
    """
    assert (
        next(iter(lines(read_flatzinc(text), MiniZincOptions()))) == "a = array1d(1..3, [1..2, 5..5, {1,3}]);"
    )


def test_results_have_sets() -> None:
    model = Model.from_text("var set of 1..3: s; constraint set_in(2,s); solve satisfy;", dialect="flatzinc")
    assert {result["s"] for result in model.iter_solutions()} == {
        one for one in subsets((1, 2, 3)) if 2 in one
    }


@pytest.mark.parametrize(
    ("constraint", "size"),
    [
        ("set_symdiff(s,t,x)", 64),
        ("set_eq(x,s)", 64),
        ("set_subset(x,1..2)", 256),
        ("array_var_set_element(1,[s,t],x)", 64),
        ("set_union(s,t,x); constraint set_symdiff(x,s,x2); constraint set_eq(x2,x3)", 64),
        ("set_eq(x2,x3); constraint set_eq(x,x2); constraint set_union(s,t,x3)", 64),
    ],
)
def test_introduced_sets_are_bounded_by_their_constraints(constraint: str, size: int) -> None:
    """MiniZinc declares the difference of two sets as `var set of int`."""
    declared = "var set of 1..3: s; var set of {-1,2,4}: t; var set of int: x;"
    declared += "".join(f"var set of int: {one};" for one in ("x2", "x3") if one in constraint)
    assert count(f"{declared} constraint {constraint}; solve satisfy;") == size


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\nvar set of int: s; solve satisfy;", "2:1: the set 's' has no upper bound"),
        ("\nvar set of bool: s; solve satisfy;", "2:1: sets are of integers"),
        ("var set of 1..3: s;\nconstraint int_le(s,3); solve satisfy;", "2:1: 's' is a set"),
        (
            "var 1..3: x; var bool: b;\nconstraint set_in_reif(x,x,b); solve satisfy;",
            "2:1: a set of integers",
        ),
        ("var set of 1..3: s;\nvar set of 1..3: t = 4; solve satisfy;", "2:1: a set of integers"),
        ("var set of 1..3: s = s; solve satisfy;", "declared equal to itself"),
        ("var set of 1..3: s;\nsolve minimize s;", "2:1: 's' is a set"),
        ("\nset of int: c = 3; solve satisfy;", "2:1: a set is expected"),
        ("var set of 1..3: s;\nconstraint set_max(s,3); solve satisfy;", "2:1: the constraint 'set_max'"),
    ],
)
def test_sets_that_are_none(text: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        read_flatzinc(text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("choice", "first"),
    [("indomain_min", "1..3"), ("indomain_max", "1..3"), ("outdomain_min", "{}"), ("outdomain_max", "{}")],
)
def test_annotations_say_how_sets_are_searched(choice: str, first: str) -> None:
    text = (
        f"var set of 1..3: s :: output_var; solve :: set_search([s],input_order,{choice},complete) satisfy;"
    )
    assert next(iter(lines(read_flatzinc(text), MiniZincOptions()))) == f"s = {first};"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\nint: n; var 1..3: x; solve satisfy;", "2:1: the constant 'n' has no value"),
        (
            "array [1..3] of int: a = [1, 2]; solve satisfy;",
            "1:1: the array 'a' has 2 entries: its index is 1..2",
        ),
        (
            "array [1..3] of int: a = [7]; solve satisfy;",
            "1:1: the array 'a' has 1 entry: its index is 1..1",
        ),
        ("\narray [1..3] of int: a = [1,2]; solve satisfy;", "2:1: the array 'a' has 2 entries"),
        ("\narray [0..1] of int: a = [1,2]; solve satisfy;", "2:1: the array 'a' has 2 entries"),
        ("\n1..3: n = 5; solve satisfy;", "2:1: 'n' is 5"),
        ("\narray [1..2] of 1..3: a = [1,5]; solve satisfy;", "2:1: 'a' is 5"),
        ("var 0..3: x;\nconstraint bool_eq(x,true); solve satisfy;", "2:1: a Boolean is expected"),
        (
            "var 0..3: x;\narray [1..1] of var int: a :: output_array([1..2]) = [x]; solve satisfy;",
            "2:1: 'a' has 1 entry",
        ),
        ("var 0..3: x;\n\nsolve minimize y;", "3:1: 'y' is not declared"),
    ],
)
def test_no_part_of_a_type_is_dropped(text: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        read_flatzinc(text)
    assert message in str(caught.value)


def test_entries_are_inside_the_type_of_their_array() -> None:
    declared = "var 0..9: x; var set of 1..3: s;"
    assert count(f"{declared} array [1..2] of var 2..4: a = [x,3]; solve satisfy;") == 3 * 8
    assert count(f"{declared} array [1..1] of var set of 1..2: a = [s]; solve satisfy;") == 10 * 4
    assert list(
        chain(lines(read_flatzinc("array [1..1] of var 2..4: a = [7]; solve satisfy;"), MiniZincOptions()))
    ) == ["=====UNSATISFIABLE====="]


def test_results_have_output_variables_that_a_constraint_defines() -> None:
    text = "var bool: b; var 0..1: x :: output_var; constraint bool2int(b,x):: defines_var(x); solve satisfy;"
    assert sorted(Model.from_text(text, dialect="flatzinc").solve().to_dict()) == ["b", "x"]


def test_a_file_that_minizinc_wrote() -> None:
    """Written by `minizinc -c -G std` of MiniZinc 2.6.4.

    array[1..4] of var set of 1..3: s; array[1..4] of var 1..3: c;
    constraint forall(i in 1..4)(c[i] in s[i] /\\ card(s[i]) <= 2);
    constraint forall(i,j in 1..4 where i < j)(s[i] intersect s[j] != {} -> c[i] <= c[j]);
    constraint s[c[1]] superset s[2];
    constraint exists(i in 2..4)(s[1] = s[i]);
    """
    pairs = list(combinations(range(4), 2))
    expected = {
        (*map(tuple, map(sorted, s)), *c)
        for s in product([one for one in subsets((1, 2, 3)) if 1 <= len(one) <= 2], repeat=4)
        for c in product(*s)
        if all(not s[i] & s[j] or c[i] <= c[j] for i, j in pairs) and s[c[0] - 1] >= s[1] and s[0] in s[1:]
    }
    flat = read_flatzinc((CORPUS / "sets.fzn").read_text())
    sets, numbers = flat.outputs
    found = {
        (*(tuple(sorted(result[one])) for one in sets.exprs), *(result[one] for one in numbers.exprs))  # type: ignore[arg-type]
        for result in Model.of(flat.model).iter_solutions()
    }
    assert found == expected
