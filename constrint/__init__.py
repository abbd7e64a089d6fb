"""ConstrINT: a general integer constraint solver."""

from types import ModuleType
from typing import TYPE_CHECKING

from constrint.errors import ConstrintError as ConstrintError
from constrint.errors import EmptySpaceError as EmptySpaceError
from constrint.errors import InternalError as InternalError
from constrint.errors import LimitError as LimitError
from constrint.errors import ModelError as ModelError
from constrint.errors import ParseError as ParseError
from constrint.errors import Position as Position
from constrint.errors import UnboundedError as UnboundedError
from constrint.errors import Undefined as Undefined
from constrint.expr import BoolExpr as BoolExpr
from constrint.expr import BoolVar as BoolVar
from constrint.expr import IntExpr as IntExpr
from constrint.expr import IntVar as IntVar
from constrint.expr.arrays import ExprArray as ExprArray
from constrint.expr.arrays import array as array
from constrint.expr.domain import Domain as Domain
from constrint.expr.functions import *  # noqa: F403  # the registry has explicit names only
from constrint.globals import all_different as all_different
from constrint.globals import all_different_except as all_different_except
from constrint.globals import among as among
from constrint.globals import at_least_one as at_least_one
from constrint.globals import at_most_one as at_most_one
from constrint.globals import bin_packing as bin_packing
from constrint.globals import circuit as circuit
from constrint.globals import cost_regular as cost_regular
from constrint.globals import count as count
from constrint.globals import cumulative_optional as cumulative_optional
from constrint.globals import decreasing as decreasing
from constrint.globals import diffn as diffn
from constrint.globals import element_2d as element_2d
from constrint.globals import exactly_one as exactly_one
from constrint.globals import global_cardinality as global_cardinality
from constrint.globals import increasing as increasing
from constrint.globals import inverse as inverse
from constrint.globals import knapsack as knapsack
from constrint.globals import lex_less as lex_less
from constrint.globals import lex_less_equal as lex_less_equal
from constrint.globals import no_overlap_optional as no_overlap_optional
from constrint.globals import nvalue as nvalue
from constrint.globals import regular as regular
from constrint.globals import subcircuit as subcircuit
from constrint.globals import table as table
from constrint.globals import value_precede as value_precede
from constrint.globals import vector_bin_packing as vector_bin_packing
from constrint.model import Model as Model
from constrint.model import read as read
from constrint.modelling.constraints import Constraint as Constraint
from constrint.modelling.constraints import Handle as Handle
from constrint.modelling.intervals import Interval as Interval
from constrint.modelling.intervals import Scheduled as Scheduled
from constrint.modelling.result import Result as Result
from constrint.modelling.result import Statistics as Statistics
from constrint.modelling.result import Status as Status
from constrint.modelling.scheduling import alternative as alternative
from constrint.modelling.scheduling import cumulative as cumulative
from constrint.modelling.scheduling import forbid_end as forbid_end
from constrint.modelling.scheduling import forbid_extent as forbid_extent
from constrint.modelling.scheduling import forbid_start as forbid_start
from constrint.modelling.scheduling import no_overlap as no_overlap
from constrint.modelling.scheduling import span as span
from constrint.modelling.scheduling import synchronize as synchronize
from constrint.preparing.branching import Brancher as Brancher
from constrint.preparing.branching import Group as Group
from constrint.preparing.callbacks import Decision as Decision
from constrint.preparing.callbacks import Domains as Domains
from constrint.preparing.restart_rules import Restarts as Restarts
from constrint.support.limits import LimitExceeded as LimitExceeded
from constrint.support.limits import Limits as Limits

__version__: str


def __getattr__(name: str) -> str:
    """`__version__`, which takes longer to find than all of an import."""
    if name != "__version__":
        raise AttributeError(f"module 'constrint' has no attribute {name!r}")
    from constrint.support.version import version

    return version()


if not TYPE_CHECKING:  # type checkers see by the imports above what is public
    __all__ = sorted(
        name
        for name, value in list(vars().items())
        if not (name.startswith("_") or isinstance(value, ModuleType) or value in (ModuleType, TYPE_CHECKING))
    )
