"""Expressions: frozen nodes that Python's operators build, and their exact meaning.

``evaluate`` defines every operator in Python's unbounded integers; each answer of the solver is checked
against it. Undefined terms are relational (Frisch and Stuckey, CP 2009): an integer expression raises
`Undefined` if one of its parts is undefined (``x // 0``, ``x % 0``, a negative exponent, an index out of
range), and the nearest enclosing condition is then false. A condition always has a truth value. Integer nodes
fold constants only if that cannot hide an undefined part.
"""

from constrint.expr.base import Assignment, BoolExpr, IntExpr, IntLike, Operands  # isort: skip  # first
from constrint.expr.arithmetic import isqrt as isqrt  # registers them
from constrint.expr.arithmetic import truncation as truncation
from constrint.expr.arithmetic.absolute import Abs
from constrint.expr.arithmetic.base import FUNCTIONS, IntFunction
from constrint.expr.arithmetic.choices import Element, IfThenElse, Selection, inside
from constrint.expr.arithmetic.division import FloorDiv, Mod
from constrint.expr.arithmetic.divisors import Gcd, Lcm
from constrint.expr.arithmetic.extremes import Max, Min
from constrint.expr.arithmetic.power import Pow
from constrint.expr.build import as_bool, as_expr, linear, placed
from constrint.expr.conditions import (
    And,
    BoolConst,
    BoolVar,
    Comparison,
    Divides,
    Iff,
    Implies,
    Member,
    Not,
    Or,
    Table,
)
from constrint.expr.integers import Const, IntVar, Mul, Sum
from constrint.expr.partial import definedness

__all__ = [
    "FUNCTIONS",
    "Abs",
    "And",
    "Assignment",
    "BoolConst",
    "BoolExpr",
    "BoolVar",
    "Comparison",
    "Const",
    "Divides",
    "Element",
    "FloorDiv",
    "Gcd",
    "IfThenElse",
    "Iff",
    "Implies",
    "IntExpr",
    "IntFunction",
    "IntLike",
    "IntVar",
    "Lcm",
    "Max",
    "Member",
    "Min",
    "Mod",
    "Mul",
    "Not",
    "Operands",
    "Or",
    "Pow",
    "Selection",
    "Sum",
    "Table",
    "as_bool",
    "as_expr",
    "definedness",
    "inside",
    "linear",
    "placed",
]
