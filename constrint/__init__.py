"""ConstrINT: a general integer constraint solver."""

from constrint.arrays import ExprArray
from constrint.branching import Brancher
from constrint.declare import Constraint
from constrint.domain import Domain
from constrint.errors import (
    ConstrintError,
    EmptySpaceError,
    InternalError,
    LimitError,
    ModelError,
    ParseError,
    Position,
    UnboundedError,
    Undefined,
)
from constrint.expr import BoolExpr, BoolVar, IntExpr, IntVar
from constrint.functions import (
    abs_,
    all_different,
    all_of,
    any_of,
    ceildiv,
    divides,
    element,
    gcd_,
    if_then_else,
    iff,
    implies,
    lcm_,
    max_,
    member,
    min_,
    sum_,
    table,
)
from constrint.model import Model
from constrint.result import Result, Statistics, Status

__all__ = [
    "BoolExpr",
    "BoolVar",
    "Brancher",
    "Constraint",
    "ConstrintError",
    "Domain",
    "EmptySpaceError",
    "ExprArray",
    "IntExpr",
    "IntVar",
    "InternalError",
    "LimitError",
    "Model",
    "ModelError",
    "ParseError",
    "Position",
    "Result",
    "Statistics",
    "Status",
    "UnboundedError",
    "Undefined",
    "abs_",
    "all_different",
    "all_of",
    "any_of",
    "ceildiv",
    "divides",
    "element",
    "gcd_",
    "if_then_else",
    "iff",
    "implies",
    "lcm_",
    "max_",
    "member",
    "min_",
    "sum_",
    "table",
]
