"""Global constraints: conditions and numbers over lists of expressions.

Each family is a file with its definitions and public functions. `GLOBALS` is the registry that the text
language, JSON and the lowering read. The propagators are in `constrint.propagators`.
"""

from constrint.expr.global_expr import Definition, Field, Function, Relation
from constrint.globals.automata import REGULAR, regular
from constrint.globals.counting import (
    AMONG,
    COUNT,
    GLOBAL_CARDINALITY,
    NVALUE,
    among,
    count,
    global_cardinality,
    nvalue,
)
from constrint.globals.different import ALL_DIFFERENT, all_different
from constrint.globals.optional_tasks import (
    CUMULATIVE_OPTIONAL,
    NO_OVERLAP_OPTIONAL,
    cumulative_optional,
    no_overlap_optional,
)
from constrint.globals.order import (
    DECREASING,
    INCREASING,
    LEX_LESS,
    LEX_LESS_EQUAL,
    STRICTLY_DECREASING,
    STRICTLY_INCREASING,
    VALUE_PRECEDE,
    decreasing,
    increasing,
    lex_less,
    lex_less_equal,
    value_precede,
)
from constrint.globals.packing import BIN_PACKING, KNAPSACK, bin_packing, knapsack
from constrint.globals.permutations import CIRCUIT, INVERSE, circuit, inverse
from constrint.globals.scheduling import CUMULATIVE, DIFFN, NO_OVERLAP, cumulative, diffn, no_overlap
from constrint.globals.tables import ELEMENT_2D, element_2d

__all__ = [
    "GLOBALS",
    "Definition",
    "Field",
    "Function",
    "Relation",
    "all_different",
    "among",
    "bin_packing",
    "circuit",
    "count",
    "cumulative",
    "cumulative_optional",
    "decreasing",
    "diffn",
    "element_2d",
    "global_cardinality",
    "increasing",
    "inverse",
    "knapsack",
    "lex_less",
    "lex_less_equal",
    "no_overlap",
    "no_overlap_optional",
    "nvalue",
    "regular",
    "value_precede",
]

GLOBALS: dict[str, Definition] = {
    definition.name: definition
    for definition in (
        ALL_DIFFERENT,
        COUNT,
        AMONG,
        NVALUE,
        GLOBAL_CARDINALITY,
        ELEMENT_2D,
        INVERSE,
        CIRCUIT,
        INCREASING,
        STRICTLY_INCREASING,
        DECREASING,
        STRICTLY_DECREASING,
        LEX_LESS,
        LEX_LESS_EQUAL,
        VALUE_PRECEDE,
        NO_OVERLAP,
        NO_OVERLAP_OPTIONAL,
        CUMULATIVE,
        CUMULATIVE_OPTIONAL,
        DIFFN,
        REGULAR,
        BIN_PACKING,
        KNAPSACK,
    )
}
"""All global constraints by name."""
