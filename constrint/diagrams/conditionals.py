"""Python's `x if c else y`, `x or y`, `x and y` used as values; `abs`, `min`, `max` of floats.

`(x if c else y) > z` becomes `x > z if c else y > z`, so that only conditions remain. Nothing else in an
expression has effects, so the order of evaluation does not matter.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Sequence

from constrint.support.deadline import check_deadline

MOST_CASES = 256


class TooManyCases(Exception):  # noqa: N818 - refused by name where the restriction is known
    """The rewritten condition has too many cases."""


def chosen_outside(tree: ast.expr, floats: Container[str]) -> ast.expr:
    """A condition with choices around comparisons, never inside; raises `TooManyCases`.

    Args:
        tree: The condition.
        floats: The parameters that have floats as values.

    Returns:
        The rewritten condition.
    """
    if not any(isinstance(node, ast.IfExp | ast.BoolOp | ast.Call) for node in ast.walk(tree)):
        return tree
    return _Rewriter(floats).condition(tree)


class _Rewriter:
    def __init__(self, floats: Container[str]) -> None:
        self.floats = floats
        self.cases = 0

    def condition(self, node: ast.expr) -> ast.expr:
        """An expression of which only the truth value matters."""
        if isinstance(node, ast.BoolOp):
            return ast.BoolOp(node.op, [self.condition(value) for value in node.values])
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return ast.UnaryOp(node.op, self.condition(node.operand))
        if isinstance(node, ast.IfExp):
            return ast.IfExp(*[self.condition(part) for part in (node.test, node.body, node.orelse)])
        if isinstance(node, ast.Compare) and len(node.ops) > 1:
            return ast.BoolOp(ast.And(), [self.condition(pair) for pair in pairs(node)])
        return self.value(node)

    def value(self, node: ast.expr) -> ast.expr:
        """An expression whose value matters: choices only at its root."""
        check_deadline()
        if isinstance(node, ast.IfExp):
            return ast.IfExp(self.condition(node.test), self.value(node.body), self.value(node.orelse))
        if isinstance(node, ast.BoolOp) and not _is_truth(node):
            first, *others = node.values
            rest = others[0] if len(others) == 1 else ast.BoolOp(node.op, others)
            either = (first, rest) if isinstance(node.op, ast.Or) else (rest, first)
            return self.value(ast.IfExp(first, *either))
        if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not):
            return self.lifted([node.operand], lambda parts: ast.UnaryOp(node.op, parts[0]))
        if isinstance(node, ast.BinOp):
            return self.lifted([node.left, node.right], lambda parts: ast.BinOp(parts[0], node.op, parts[1]))
        if isinstance(node, ast.Call):
            choice = self.choice(node)
            if choice is not None:
                return self.value(choice)
            return self.lifted(node.args, lambda parts: ast.Call(node.func, list(parts), node.keywords))
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return self.comparison(node)
        return self.condition(node) if isinstance(node, ast.BoolOp | ast.UnaryOp | ast.Compare) else node

    def choice(self, node: ast.Call) -> ast.expr | None:
        """`abs`, `min` and `max` of floats as choices with Python's result; None for other calls."""
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if not node.args or not any(self.is_float(arg) for arg in node.args):
            return None
        if name == "abs" and len(node.args) == 1:
            negative = ast.Compare(node.args[0], [ast.Lt()], [ast.Constant(0)])
            return ast.IfExp(negative, ast.UnaryOp(ast.USub(), node.args[0]), node.args[0])
        if name not in ("min", "max"):
            return None
        best = node.args[0]
        for arg in node.args[1:]:  # of several equal values the first is kept
            better = ast.Compare(arg, [ast.Lt() if name == "min" else ast.Gt()], [best])
            best = ast.IfExp(better, arg, best)
        return best

    def is_float(self, node: ast.expr) -> bool:
        """Whether an expression may have a float as its value."""
        return any(
            (isinstance(part, ast.Constant) and isinstance(part.value, float))
            or (isinstance(part, ast.Name) and part.id in self.floats)
            or isinstance(part, ast.Div)
            for part in ast.walk(node)
        )

    def comparison(self, node: ast.Compare) -> ast.expr:
        """A comparison of two sides; the right one may be a list of values."""
        right = node.comparators[0]
        if not isinstance(right, ast.Tuple | ast.List | ast.Set):
            return self.lifted([node.left, right], lambda parts: ast.Compare(parts[0], node.ops, [parts[1]]))
        listed = type(right)
        return self.lifted(
            [node.left, *right.elts],
            lambda parts: ast.Compare(parts[0], node.ops, [listed(elts=list(parts[1:]))]),
        )

    def lifted(self, parts: Sequence[ast.expr], build: Callable[[Sequence[ast.expr]], ast.expr]) -> ast.expr:
        """An expression of several parts, with the parts' choices moved around it."""
        return self._lifted([self.value(part) for part in parts], build)

    def _lifted(self, parts: Sequence[ast.expr], build: Callable[[Sequence[ast.expr]], ast.expr]) -> ast.expr:
        for i, part in enumerate(parts):
            if isinstance(part, ast.IfExp):
                self.cases += 1
                if self.cases > MOST_CASES:
                    raise TooManyCases
                cases = [
                    self._lifted([*parts[:i], case, *parts[i + 1 :]], build)
                    for case in (part.body, part.orelse)
                ]
                return ast.IfExp(part.test, *cases)
        return build(parts)


def pairs(node: ast.Compare) -> list[ast.Compare]:
    """The comparisons of a chain, each of which must hold."""
    sides = [node.left, *node.comparators]
    return [ast.Compare(sides[i], [op], [sides[i + 1]]) for i, op in enumerate(node.ops)]


def _is_truth(node: ast.expr) -> bool:
    """Whether an expression is True or False, whatever it depends on."""
    if isinstance(node, ast.BoolOp):
        return all(map(_is_truth, node.values))
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not)
    return isinstance(node, ast.Compare) or (isinstance(node, ast.Constant) and isinstance(node.value, bool))
