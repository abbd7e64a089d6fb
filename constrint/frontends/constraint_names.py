"""Names of global constraints in other formats, and the order of their arguments there.

A signature is a name and the fields of the constraint's definition, in the order of that name's arguments:
`*` takes all arguments for one list, `{}` is a set in place of a list, `=` the number's value, and a word of
the definition stands for itself. A name without fields takes other arguments, by a rule of the reader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple, TypeAlias

from constrint.expr import IntExpr
from constrint.expr.functions import all_of
from constrint.expr.global_expr import Field, node_of
from constrint.globals import GLOBALS

Format: TypeAlias = Literal["flatzinc", "cpmpy", "xcsp3", "cp_sat", "python_constraint"]
Read: TypeAlias = Callable[[str, int | None], Any]
"""An argument of a kind, or "set", at a place; all arguments for None."""


class Names(NamedTuple):
    """The signatures of a global constraint, by format; several are separated by commas.

    Attributes:
        flatzinc: The predicates of `constrint/minizinc/`.
        cpmpy: CPMpy's global constraints and functions.
        xcsp3: The elements of XCSP3.
        cp_sat: The methods of CP-SAT's models that state it; what has none is stated by its parts.
        python_constraint: The class of python-constraint.
    """

    flatzinc: str
    cpmpy: str
    xcsp3: str
    cp_sat: str
    python_constraint: str


NONE = "-"
"""A format that does not have the constraint, or in which constrint does not tell it from its parts."""
NAMES = {
    "all_different": Names(
        "fzn_all_different_int values",
        "alldifferent *values",
        "allDifferent",
        "add_all_different",
        "AllDifferentConstraint",
    ),
    "all_different_except": Names(
        "fzn_alldifferent_except values {exceptions}, fzn_alldifferent_except_0",
        "alldifferent_except_n values exceptions",
        "allDifferent",
        NONE,
        NONE,
    ),
    "count": Names("fzn_count_eq values value =", "count values value", "count", NONE, NONE),
    "among": Names("fzn_among = values {members}", "among values members", "count", NONE, NONE),
    "nvalue": Names("fzn_nvalue = values", "nvalue *values", "nValues", NONE, NONE),
    "global_cardinality": Names(
        "fzn_global_cardinality expressions values counts, "
        "fzn_global_cardinality_closed expressions values counts closed, "
        "fzn_global_cardinality_low_up, "
        "fzn_global_cardinality_low_up_closed",
        NONE,
        "cardinality",
        NONE,
        NONE,
    ),
    "element_2d": Names(NONE, NONE, "element", NONE, NONE),
    "table": Names(
        "fzn_table_int, fzn_table_bool", "table, negative_table", "extension", "add_allowed_assignments", NONE
    ),
    "short_table": Names(NONE, "short_table", "extension", NONE, NONE),
    "inverse": Names("constrint_inverse xs ys", "inverse xs ys", "channel", "add_inverse", NONE),
    "circuit": Names("constrint_circuit successors", "circuit *successors", "circuit", "add_circuit", NONE),
    "subcircuit": Names("constrint_subcircuit successors", NONE, "circuit", "add_circuit", NONE),
    "arc_circuit": Names(NONE, NONE, NONE, "add_circuit", NONE),
    "routes": Names(NONE, NONE, NONE, "add_multiple_circuit", NONE),
    "exactly_one": Names(NONE, NONE, NONE, NONE, NONE),
    "at_most_one": Names(NONE, NONE, NONE, NONE, NONE),
    "at_least_one": Names(NONE, NONE, "clause", NONE, NONE),
    "increasing": Names("fzn_increasing_int values", "increasing *values", "ordered", NONE, NONE),
    "strictly_increasing": Names(
        "fzn_strictly_increasing_int values", "strictly_increasing *values", "ordered", NONE, NONE
    ),
    "decreasing": Names("fzn_decreasing_int values", "decreasing *values", "ordered", NONE, NONE),
    "strictly_decreasing": Names(
        "fzn_strictly_decreasing_int values", "strictly_decreasing *values", "ordered", NONE, NONE
    ),
    "lex_less": Names("fzn_lex_less_int", "lex_less xs ys", "lex", NONE, NONE),
    "lex_less_equal": Names("fzn_lex_lesseq_int", "lex_lesseq xs ys", "lex", NONE, NONE),
    "value_precede": Names(
        "fzn_value_precede_int, fzn_value_precede_chain_int order values", NONE, "precedence", NONE, NONE
    ),
    "no_overlap": Names(
        "fzn_disjunctive, fzn_disjunctive_strict starts durations",
        "no_overlap",
        "noOverlap",
        NONE,
        NONE,
    ),
    "cumulative": Names(
        "fzn_cumulative starts durations demands capacity", "cumulative", "cumulative", "add_cumulative", NONE
    ),
    "no_overlap_optional": Names(NONE, "no_overlap_optional", NONE, "add_no_overlap", NONE),
    "cumulative_optional": Names(NONE, "cumulative_optional", NONE, "add_cumulative", NONE),
    "diffn": Names("fzn_diffn xs ys widths heights", NONE, "noOverlap", NONE, NONE),
    "regular": Names("fzn_regular", "regular", "regular, mdd", NONE, NONE),
    "cost_regular": Names("fzn_cost_regular", NONE, NONE, NONE, NONE),
    "bin_packing": Names(
        "constrint_bin_packing_load loads bins sizes, constrint_bin_packing_capa",
        NONE,
        "binPacking",
        NONE,
        NONE,
    ),
    "vector_bin_packing": Names(NONE, NONE, NONE, NONE, NONE),
    "knapsack": Names("fzn_knapsack weights profits counts weight profit", NONE, "knapsack", NONE, NONE),
}
"""By the name in Python, text and JSON. LP and MPS have no global constraints."""


class Signature(NamedTuple):
    """A name, and the arguments that it takes.

    Attributes:
        name: The name.
        constraint: The global constraint's own name.
        arguments: Its fields in order; none where the reader has its own rule.
    """

    name: str
    constraint: str
    arguments: tuple[str, ...]

    def stated(self, read: Read) -> IntExpr:
        """The constraint or number with the arguments that `read` gives; raises `ModelError`."""
        definition = GLOBALS[self.constraint]
        parts = tuple([self._part(field, read) for field in definition.fields])
        lists = [part for field, part in zip(definition.fields, parts, strict=True) if field.kind == "exprs"]
        has_number = definition.is_number or any(field.kind == "expr" for field in definition.fields)
        if lists == [()] and not has_number:
            return all_of([])  # elsewhere conditions on one list hold of an empty one
        found = node_of(definition, parts)
        return found == read("expr", self.arguments.index("=")) if "=" in self.arguments else found

    def _part(self, field: Field, read: Read) -> Any:
        if field.kind == "word":
            return next((word for word in field.words if word in self.arguments), field.words[0])
        for place, argument in enumerate(self.arguments):
            if argument.strip("*{}") == field.name:
                kind = "set" if argument[0] == "{" else field.kind
                return read(kind, None if argument[0] == "*" else place)
        raise KeyError(field.name)


def signatures(source: Format) -> Iterator[Signature]:
    """The signatures of a format."""
    for constraint, names in NAMES.items():
        listed = getattr(names, source)
        for signature in listed.split(", ") if listed != NONE else ():
            name, *arguments = signature.split()
            yield Signature(name, constraint, tuple(arguments))
