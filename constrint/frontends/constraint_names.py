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

Format: TypeAlias = Literal["flatzinc", "cpmpy", "xcsp3"]
Read: TypeAlias = Callable[[str, int | None], Any]
"""An argument of a kind, or "set", at a place; all arguments for None."""


class Names(NamedTuple):
    """The signatures of a global constraint, by format; several are separated by commas."""

    flatzinc: str = ""
    cpmpy: str = ""
    xcsp3: str = ""


NAMES = {
    "all_different": Names("fzn_all_different_int values", "alldifferent *values", "allDifferent"),
    "all_different_except": Names(
        "fzn_alldifferent_except values {exceptions}, fzn_alldifferent_except_0",
        "alldifferent_except_n values exceptions",
        "allDifferent",
    ),
    "count": Names("fzn_count_eq values value =", "count values value", "count"),
    "among": Names("fzn_among = values {members}", "among values members", "count"),
    "nvalue": Names("fzn_nvalue = values", "nvalue *values", "nValues"),
    "global_cardinality": Names(
        "fzn_global_cardinality expressions values counts, "
        "fzn_global_cardinality_closed expressions values counts closed, "
        "fzn_global_cardinality_low_up, fzn_global_cardinality_low_up_closed",
        "",
        "cardinality",
    ),
    "element_2d": Names("", "", "element"),
    "table": Names("fzn_table_int, fzn_table_bool", "table, negative_table, short_table", "extension"),
    "inverse": Names("constrint_inverse xs ys", "inverse xs ys", "channel"),
    "circuit": Names("constrint_circuit successors", "circuit *successors", "circuit"),
    "subcircuit": Names("constrint_subcircuit successors", "", "circuit"),
    "increasing": Names("fzn_increasing_int values", "increasing *values", "ordered"),
    "strictly_increasing": Names(
        "fzn_strictly_increasing_int values", "strictly_increasing *values", "ordered"
    ),
    "decreasing": Names("fzn_decreasing_int values", "decreasing *values", "ordered"),
    "strictly_decreasing": Names(
        "fzn_strictly_decreasing_int values", "strictly_decreasing *values", "ordered"
    ),
    "lex_less": Names("fzn_lex_less_int", "lex_less xs ys", "lex"),
    "lex_less_equal": Names("fzn_lex_lesseq_int", "lex_lesseq xs ys", "lex"),
    "value_precede": Names(
        "fzn_value_precede_int, fzn_value_precede_chain_int order values", "", "precedence"
    ),
    "no_overlap": Names(
        "fzn_disjunctive, fzn_disjunctive_strict starts durations", "no_overlap", "noOverlap"
    ),
    "cumulative": Names("fzn_cumulative starts durations demands capacity", "cumulative", "cumulative"),
    "no_overlap_optional": Names("", "no_overlap_optional", ""),
    "cumulative_optional": Names("", "cumulative_optional", ""),
    "diffn": Names("fzn_diffn xs ys widths heights", "", "noOverlap"),
    "regular": Names("fzn_regular", "regular", "regular, mdd"),
    "cost_regular": Names("fzn_cost_regular", "", ""),
    "bin_packing": Names(
        "constrint_bin_packing_load loads bins sizes, constrint_bin_packing_capa", "", "binPacking"
    ),
    "knapsack": Names("fzn_knapsack weights profits counts weight profit", "", "knapsack"),
}
"""By the name in Python, text and JSON."""


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
        for signature in filter(None, getattr(names, source).split(", ")):
            name, *arguments = signature.split()
            yield Signature(name, constraint, tuple(arguments))
