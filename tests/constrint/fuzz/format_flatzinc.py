"""FlatZinc."""

from __future__ import annotations

from typing import Any

from constrint import Model
from constrint.cli.flatzinc_answers import MiniZincOptions, lines
from constrint.frontends.flatzinc import FlatModel, read_flatzinc
from constrint.frontends.flatzinc.builtins import CONDITIONS, FUNCTIONS, RELATIONS
from constrint.frontends.flatzinc.library import GLOBALS
from constrint.support.limits import Budget, decoded
from fuzz.harness import NAME, Format, corpus
from fuzz.using import MOMENT
from fuzz.using_large import use_any

CALLS = (
    *sorted({*CONDITIONS, *FUNCTIONS, *RELATIONS, *GLOBALS}),
    "int_le_reif",
    "int_lin_eq_imp",
    "set_eq_reif",
    "foo",
)
VALUES = (
    "x", "y", "z", "b", "c", "xs", "bs", "ns", "s", "xs[1]", "xs[9]", "S", "T", "Ss", "Ss[1]",
    "1", "0", "-3", "0x1F", "true", "false",
    "1..3", "{1,5,7}", "{}", "[x,y]", "[1,2]", "[]", "[true,b]", "[1..2,3..4]", "1.5", '"text"', "[x,y,z]",
    "1000000000000", "0..1000000000000", "[2,3,4,5]", "99999999999999999999999999",
)  # fmt: skip
ANNOTATIONS = (
    "", "", "", ":: defines_var(x)", ":: defines_var(z)", ":: domain", ":: defines_var(1,2)", ":: a(b(c))",
    ":: output_var", ":: output_array([1..2])", ":: is_defined_var", ":: output_array(x)",
)  # fmt: skip
HEAD = """var 0..4: x :: output_var;
var -2..3: y :: output_var;
var int: z :: is_defined_var;
var bool: b;
var bool: c :: output_var;
array [1..2] of int: ns = [3,4];
array [1..2] of var int: xs :: output_array([1..2]) = [x,y];
array [1..2] of var bool: bs = [b,c];
set of int: s = {1,3};
var set of 1..3: S :: output_var;
var set of int: T;
array [1..2] of var set of 0..3: Ss = [S,{0,2}];
constraint set_subset(T,0..2);
"""
WORDS = (
    *CALLS, *VALUES, *ANNOTATIONS, "constraint", "var 0..9: w;", "var int: w = x;", "var int: x = w;",
    "array [1..1] of var int: a = [x];",
    "var set of 1..2: w = S;", "predicate p(var int: q);", "solve satisfy;", "solve minimize x;",
    "solve :: int_search(xs, first_fail, indomain_min, complete) satisfy;", "% comment\n", "[", "]", ";",
    "solve :: restart_luby(1e999) satisfy;", "solve :: seq_search([x]) maximize b;", "\ud800", "::", "=",
)  # fmt: skip


def read(data: bytes) -> FlatModel:
    """A model with what is printed of it."""
    return read_flatzinc(decoded(data, NAME), NAME, Budget())


def use(flat: FlatModel) -> None:
    """The model is used as any other, and solved as MiniZinc asks for it."""
    use_any(Model.of(flat.model))
    if len(flat.model.variables) <= 30 and len(flat.model.constraints) <= 30:
        for line in lines(flat, MiniZincOptions(seconds=MOMENT)):
            str(line)


def grammar() -> Any:
    """Texts that are nearly right."""
    from hypothesis import strategies as st

    values = st.sampled_from(VALUES)
    constraints = st.builds(
        lambda name, args, note: f"constraint {name}({', '.join(args)}) {note};\n",
        st.sampled_from(CALLS),
        st.lists(values, min_size=1, max_size=5),
        st.sampled_from(ANNOTATIONS),
    )
    declarations = st.builds(
        lambda kind, name, note, value: f"{kind}: {name} {note} {value};\n",
        st.sampled_from(["var 0..9", "var bool", "var int", "int", "bool", "array [1..2] of var int",
                         "array [1..2] of int", "var {1,5}", "set of int", "var 5..1", "float"]),
        st.sampled_from(["v", "w", "x", "u"]),
        st.sampled_from(ANNOTATIONS),
        st.one_of(st.just(""), values.map("= {}".format), st.sampled_from(["= v", "= w", "= u"])),
    )  # fmt: skip
    goals = st.sampled_from(
        ["solve satisfy;", "solve satisfy;", "solve minimize x;", "solve maximize z;", "solve minimize xs;",
        "",
         "solve :: int_search(xs, input_order, indomain_max) minimize y;",
         "solve :: seq_search([x]) satisfy;"]
    )  # fmt: skip
    lines = [
        line for file in corpus("flatzinc") for line in file.decode().splitlines(True) if len(line) < 200
    ]
    right = st.sampled_from([line for line in lines if line.startswith("constraint")])
    return st.builds(
        lambda extra, parts, goal: HEAD + "".join(extra) + "".join(parts) + goal,
        st.just([]) | st.lists(declarations, max_size=2),
        st.lists(right, max_size=3) | st.lists(right | constraints, max_size=4),
        goals,
    )


FORMAT = Format("flatzinc", read, use, grammar, WORDS)
