"""Global constraints: conditions and numbers over lists of expressions.

Each family is a file with its definitions and public functions. `GLOBALS` is the registry that the text
language, JSON and the lowering read. The propagators are in `constrint.propagators`.
"""

import copyreg

from constrint.expr.global_expr import Definition as Definition
from constrint.expr.global_expr import Field as Field
from constrint.expr.global_expr import Function as Function
from constrint.expr.global_expr import Relation as Relation
from constrint.globals import (
    arcs,
    automata,
    costs,
    counting,
    different,
    optional_tasks,
    order,
    packing,
    permutations,
    scheduling,
    tables,
    truths,
)
from constrint.globals.functions import *  # noqa: F403  # each family has explicit names only
from constrint.globals.scheduling import cumulative as cumulative
from constrint.globals.scheduling import no_overlap as no_overlap

FAMILIES = (
    different,
    counting,
    tables,
    permutations,
    arcs,
    truths,
    order,
    scheduling,
    optional_tasks,
    automata,
    costs,
    packing,
)
"""The files with definitions; the public functions of a new one are listed in `functions.py` as well."""

GLOBALS: dict[str, Definition] = {
    found.name: found
    for family in FAMILIES
    for found in vars(family).values()
    if isinstance(found, Definition)
}
"""All global constraints by name: the definitions of the families."""


def named(name: str) -> Definition:
    """The global constraint with a name."""
    return GLOBALS[name]


def _by_name(definition: Definition) -> tuple[object, tuple[str]]:
    return named, (definition.name,)


copyreg.pickle(Definition, _by_name)  # type: ignore[arg-type] # copies and pickles name it: it holds functions
