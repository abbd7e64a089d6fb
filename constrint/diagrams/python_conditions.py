"""Python's conditions, read once for all targets: a subclass says what the values of the parts are.

`restrictions.py` makes terms of them, `constrint.integrations.python_constraint.restrictions` integer
expressions. The trees have their choices outside comparisons (`conditionals.chosen_outside`).
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from constrint.support.deadline import check_deadline

Value = TypeVar("Value")
COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
COMPARISONS: dict[type, str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}


class Refused(Exception):  # noqa: N818 - carried to where the restriction's name is known
    """An expression that a target does not have; the message says which part, and what to do."""


class SyntaxReader(Generic[Value]):
    """Reads an expression by one method for each kind of part."""

    def read(self, node: ast.expr) -> Value:
        """The value of an expression."""
        check_deadline()
        rule: Callable[[Any], Value] | None = getattr(self, f"_{type(node).__name__.lower()}", None)
        if rule is None:
            raise self.refused(node)
        return rule(node)

    def refused(self, node: ast.AST, hint: str = "") -> Refused:
        """The refusal of a part."""
        return Refused(f"{ast.unparse(node)} is not supported{hint}; it can be given as a callable")


class ConditionReader(SyntaxReader[Value]):
    """Reads conditions on numbers.

    Conditions are numbers, too: `truth` makes a condition of any value, and the operators take both.
    """

    def constant(self, value: bool | int | float) -> Value:
        """A number, True or False."""
        raise NotImplementedError

    def named(self, name: str) -> Value:
        """A parameter."""
        raise NotImplementedError

    def truth(self, value: Value) -> Value:
        """The condition that a value is not zero."""
        raise NotImplementedError

    def is_condition(self, value: Value) -> bool:
        """Whether a value is always True or False."""
        raise NotImplementedError

    def negation(self, condition: Value) -> Value:
        """The condition does not hold."""
        raise NotImplementedError

    def junction(self, op: str, conditions: Sequence[Value], *, lazy: bool) -> Value:
        """Conditions joined by "and" or "or".

        With `lazy`, one that Python would not reach need not be defined.
        """
        raise NotImplementedError

    def negative(self, value: Value) -> Value:
        """A number with the other sign."""
        raise NotImplementedError

    def arithmetic(self, node: ast.BinOp, left: Value, right: Value) -> Value:
        """An operator of two numbers; `refused` if the target lacks it."""
        raise NotImplementedError

    def comparison(self, op: str, left: Value, right: Value) -> Value:
        """Two numbers compared by one of == != < <= > >=."""
        raise NotImplementedError

    def condition(self, node: ast.expr) -> Value:
        """The truth of an expression."""
        return self.truth(self.read(node))

    def _constant(self, node: ast.Constant) -> Value:
        if not isinstance(node.value, bool | int | float):
            raise Refused(
                f"{ast.unparse(node)} is not a number: it can only be compared with such parameters"
            )
        return self.constant(node.value)

    def _name(self, node: ast.Name) -> Value:
        return self.named(node.id)

    def _unaryop(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            return self.negation(self.condition(node.operand))
        operand = self.read(node.operand)
        if isinstance(node.op, ast.Invert):
            raise Refused(f"{ast.unparse(node)}: `~` works on bits; write `not`")
        return operand if isinstance(node.op, ast.UAdd) else self.negative(operand)

    def _binop(self, node: ast.BinOp) -> Value:
        left, right = self.read(node.left), self.read(node.right)
        if not isinstance(node.op, ast.BitAnd | ast.BitOr):
            return self.arithmetic(node, left, right)
        if not (self.is_condition(left) and self.is_condition(right)):
            raise Refused(f"{ast.unparse(node)}: `&` and `|` work on conditions only, each in brackets")
        return self.junction("and" if isinstance(node.op, ast.BitAnd) else "or", [left, right], lazy=False)

    def _boolop(self, node: ast.BoolOp) -> Value:
        parts = [self.condition(value) for value in node.values]
        return self.junction("and" if isinstance(node.op, ast.And) else "or", parts, lazy=True)

    def _ifexp(self, node: ast.IfExp) -> Value:
        test, body, other = (self.condition(part) for part in (node.test, node.body, node.orelse))
        first = self.junction("and", [test, body], lazy=True)
        second = self.junction("and", [self.negation(test), other], lazy=True)
        return self.junction("or", [first, second], lazy=True)

    def _compare(self, node: ast.Compare) -> Value:
        sides = [node.left, *node.comparators]
        parts = [self._pair(op, sides[i], sides[i + 1]) for i, op in enumerate(node.ops)]
        return parts[0] if len(parts) == 1 else self.junction("and", parts, lazy=True)

    def _pair(self, op: ast.cmpop, left: ast.expr, right: ast.expr) -> Value:
        if isinstance(op, ast.In | ast.NotIn):
            found = self._member(left, right)
            return found if isinstance(op, ast.In) else self.negation(found)
        if type(op) not in COMPARISONS:
            raise Refused("`is` compares objects; write `==`")
        return self.comparison(COMPARISONS[type(op)], self.read(left), self.read(right))

    def _member(self, left: ast.expr, right: ast.expr) -> Value:
        if not isinstance(right, ast.Tuple | ast.List | ast.Set):
            raise Refused(f"{ast.unparse(right)}: `in` needs a tuple, list or set")
        value = self.read(left)
        tests = [self.comparison("==", value, self.read(item)) for item in right.elts]
        return self.junction("or", tests, lazy=False)  # Python makes the list before it looks
