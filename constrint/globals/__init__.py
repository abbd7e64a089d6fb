"""Global constraints: conditions and numbers over lists of expressions.

Each family is a file with its definitions and public functions. `GLOBALS` is the registry that the text
language, JSON and the lowering read. The propagators are in `constrint.propagators`.
"""

from constrint.expr.global_expr import Definition, Field, Function, Relation
from constrint.globals.automata import REGULAR, regular
from constrint.globals.costs import COST_REGULAR, cost_regular
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
from constrint.globals.different import (
    ALL_DIFFERENT,
    ALL_DIFFERENT_EXCEPT,
    all_different,
    all_different_except,
)
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
from constrint.globals.packing import (
    BIN_PACKING,
    KNAPSACK,
    VECTOR_BIN_PACKING,
    bin_packing,
    knapsack,
    vector_bin_packing,
)
from constrint.globals.permutations import CIRCUIT, INVERSE, SUBCIRCUIT, circuit, inverse, subcircuit
from constrint.globals.scheduling import CUMULATIVE, DIFFN, NO_OVERLAP, cumulative, diffn, no_overlap
from constrint.globals.tables import ELEMENT_2D, SHORT_TABLE, element_2d, table
from constrint.globals.truths import (
    AT_LEAST_ONE,
    AT_MOST_ONE,
    EXACTLY_ONE,
    at_least_one,
    at_most_one,
    exactly_one,
)

__all__ = [
    "GLOBALS",
    "Definition",
    "Field",
    "Function",
    "Relation",
    "all_different",
    "all_different_except",
    "among",
    "at_least_one",
    "at_most_one",
    "bin_packing",
    "circuit",
    "cost_regular",
    "count",
    "cumulative",
    "cumulative_optional",
    "decreasing",
    "diffn",
    "element_2d",
    "exactly_one",
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
    "subcircuit",
    "table",
    "value_precede",
    "vector_bin_packing",
]

GLOBALS: dict[str, Definition] = {
    definition.name: definition
    for definition in (
        ALL_DIFFERENT,
        ALL_DIFFERENT_EXCEPT,
        COUNT,
        AMONG,
        NVALUE,
        GLOBAL_CARDINALITY,
        ELEMENT_2D,
        SHORT_TABLE,
        INVERSE,
        CIRCUIT,
        SUBCIRCUIT,
        EXACTLY_ONE,
        AT_MOST_ONE,
        AT_LEAST_ONE,
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
        COST_REGULAR,
        BIN_PACKING,
        VECTOR_BIN_PACKING,
        KNAPSACK,
    )
}
"""All global constraints by name."""
