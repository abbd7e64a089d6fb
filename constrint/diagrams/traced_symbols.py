"""Symbols that stand for numbers when a function is traced, and a watch on what it does with them.

Operators on a symbol are recorded; anything that needs a value raises `CannotTrace`. Python has ways to
inspect an object that cannot be intercepted: `is`, `type`, `match`, and handlers that catch what a value
would never raise. A call that runs code with any of these is not trusted.
"""

from __future__ import annotations

import ast
import dis
import operator
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NoReturn


class CannotTrace(Exception):  # noqa: N818 - turns to calling
    """The callable needs numbers, or may inspect their types."""


def tree_of(value: object) -> ast.expr:
    """The syntax tree of a symbol or constant."""
    if isinstance(value, Symbol):
        return value.tree
    if isinstance(value, bool | int | float | str) and type(value) in (bool, int, float, str):
        return ast.Constant(value)
    raise CannotTrace  # other types have their own arithmetic: numpy's divides by zero and overflows


def _binary(symbol: ast.operator) -> tuple[Callable[[Symbol, object], Symbol], ...]:
    def forward(self: Symbol, other: object) -> Symbol:
        return Symbol(ast.BinOp(self.tree, symbol, tree_of(other)))

    def backward(self: Symbol, other: object) -> Symbol:
        return Symbol(ast.BinOp(tree_of(other), symbol, self.tree))

    return forward, backward


def _comparison(symbol: ast.cmpop) -> Callable[[Symbol, object], Symbol]:
    def compare(self: Symbol, other: object) -> Symbol:
        return Symbol(ast.Compare(self.tree, [symbol], [tree_of(other)]))

    return compare


def _refused(self: Symbol, *_: object) -> NoReturn:
    raise CannotTrace


class Symbol:
    """Stands for a number while a callable is traced; records the operations on it."""

    __slots__ = ("tree",)
    __array_ufunc__ = None  # numpy's scalars then leave arithmetic to the symbol, which refuses them

    def __init__(self, tree: ast.expr) -> None:
        self.tree = tree

    __add__, __radd__ = _binary(ast.Add())
    __sub__, __rsub__ = _binary(ast.Sub())
    __mul__, __rmul__ = _binary(ast.Mult())
    __truediv__, __rtruediv__ = _binary(ast.Div())
    __floordiv__, __rfloordiv__ = _binary(ast.FloorDiv())
    __mod__, __rmod__ = _binary(ast.Mod())
    __pow__, __rpow__ = _binary(ast.Pow())
    __and__, __rand__ = _binary(ast.BitAnd())
    __or__, __ror__ = _binary(ast.BitOr())
    __lt__ = _comparison(ast.Lt())
    __le__ = _comparison(ast.LtE())
    __gt__ = _comparison(ast.Gt())
    __ge__ = _comparison(ast.GtE())
    __eq__ = _comparison(ast.Eq())  # type: ignore[assignment] # builds a condition
    __ne__ = _comparison(ast.NotEq())  # type: ignore[assignment] # builds a condition

    __bool__ = __index__ = __int__ = __float__ = __complex__ = __round__ = __trunc__ = __floor__ = _refused
    __ceil__ = __str__ = __repr__ = __format__ = __hash__ = __iter__ = __len__ = __contains__ = _refused
    __getitem__ = __call__ = __invert__ = __divmod__ = __rdivmod__ = __matmul__ = __rmatmul__ = _refused
    __xor__ = __rxor__ = __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = _refused

    def __neg__(self) -> Symbol:
        return Symbol(ast.UnaryOp(ast.USub(), self.tree))

    def __pos__(self) -> Symbol:
        return Symbol(ast.UnaryOp(ast.UAdd(), self.tree))

    def __abs__(self) -> Symbol:
        return Symbol(ast.Call(ast.Name("abs"), [self.tree], []))

    @property  # type: ignore[misc] # there is none to set
    def __class__(self) -> Any:  # `isinstance` reads this
        raise CannotTrace

    def __getattr__(self, name: str) -> NoReturn:
        raise CannotTrace


_HERE = str(Path(__file__).parent)
_OPAQUE: tuple[object, ...] = (type, id, callable, vars, dir, operator.is_, operator.is_not)
"""Functions that can distinguish a symbol from a number without its knowledge."""
_LOOKS = frozenset(
    code
    for name, code in dis.opmap.items()
    if name in ("IS_OP", "PUSH_EXC_INFO") or "_NONE" in name or name.startswith("MATCH_")
)


def watched(call: Callable[[], object]) -> object:
    """The result of a call; raises `CannotTrace` if code ran that may distinguish symbols from numbers."""
    earlier = sys.getprofile()
    if earlier is not None and not callable(earlier):
        raise CannotTrace  # a profiler written in C cannot be restored
    seen: dict[CodeType, bool] = {}

    def look(frame: FrameType, event: str, what: object) -> None:
        code = frame.f_code
        if event == "call" and code not in seen and not code.co_filename.startswith(_HERE):
            seen[code] = _is_plain(frame)
        elif event == "c_call" and any(what is one for one in _OPAQUE):
            seen[code] = False

    sys.setprofile(look)
    try:
        answer = call()
    finally:
        sys.setprofile(earlier)
    if not seen or not all(seen.values()):
        raise CannotTrace
    return answer


def _is_plain(frame: FrameType) -> bool:
    """Whether the code of a frame cannot inspect objects."""
    code = frame.f_code
    if _LOOKS.intersection(code.co_code[::2]):
        return False
    names = [frame.f_globals.get(name, frame.f_builtins.get(name)) for name in code.co_names]
    return not any(value is one for value in (*names, *frame.f_locals.values()) for one in _OPAQUE)
