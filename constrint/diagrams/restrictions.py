"""Restrictions in Python's syntax as terms, with Python's meaning: `/` gives floats, `and` short-circuits.

The text is parsed, never evaluated. Parts without a term, such as methods and unknown functions, are refused
by name, so that a callable can be given instead.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from constrint.diagrams import term_functions
from constrint.diagrams.conditionals import TooManyCases, chosen_outside, pairs
from constrint.diagrams.python_conditions import ConditionReader, Refused
from constrint.diagrams.python_text import parsed, shortened
from constrint.diagrams.terms import BOOL, Term, Terms, Unsupported
from constrint.errors import ModelError
from constrint.expr import FUNCTIONS, FloorDiv, IntFunction, Mod, Pow
from constrint.support.deadline import check_deadline

_ARITHMETIC: dict[type, str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_PLAIN = (str, bytes, bool, int, float, type(None))
"""Types of which equal values have equal hashes, whoever wrote them."""
_FUNCTION_OF: dict[type[ast.operator], type[IntFunction]] = {
    ast.FloorDiv: FloorDiv,
    ast.Mod: Mod,
    ast.Pow: Pow,
}
_CALLED = ("abs", "min", "max", "gcd", "lcm", "int", "bool")


@dataclass(frozen=True)
class Parameters:
    """The parameters that restrictions may use.

    Attributes:
        numbers: Number of each parameter.
        labels: The values of a parameter's codes, for parameters whose values are not numbers.
    """

    numbers: Mapping[str, int]
    labels: Mapping[int, Mapping[Any, Any]]

    @cached_property
    def floats(self) -> frozenset[str]:
        """The parameters that have floats among their values."""
        return frozenset(
            name
            for name, v in self.numbers.items()
            if any(isinstance(label, float) for label in self.labels.get(v, {}).values())
        )

    @cached_property
    def _indexed(self) -> dict[int, tuple[dict[Any, int], list[tuple[int, Any]]]]:
        """The codes of plain labels, and the other labels with their codes, of each parameter with labels."""
        found = {}
        for v, labels in self.labels.items():
            plain = {label: code for code, label in labels.items() if type(label) in _PLAIN}
            found[v] = plain, [(code, label) for code, label in labels.items() if type(label) not in _PLAIN]
        return found

    def codes(self, v: int, values: Sequence[Any]) -> list[Any]:
        """The codes of the labels of a parameter that equal one of some values, in the order of the codes."""
        plain, others = self._indexed[v]
        found = set()
        for value in values:
            check_deadline()
            if type(value) not in _PLAIN:
                return [code for code, label in self.labels[v].items() if label in values]
            if value in plain:
                found.add(plain[value])
            found.update([code for code, label in others if label is value or label == value])
        return sorted(found)

    def number(self, name: str) -> int:
        """The number of a parameter."""
        if name in self.numbers:
            return self.numbers[name]
        if name in _CALLED:
            raise Refused(f"'{name}' is a function: call it, as in {name}(…)")
        close = difflib.get_close_matches(name, self.numbers, 1)
        hint = f"; did you mean '{close[0]}'?" if close else ""
        raise Refused(f"no parameter is named '{name}'{hint}")


LARGEST_PLAIN = 60  # parts of the syntax tree
_PLAIN_NODES = frozenset([
    ast.Compare, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Name, ast.Constant, ast.Load, ast.And, ast.Or,
    ast.Not,
    ast.USub, ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt,
    ast.GtE,
])  # fmt: skip


@dataclass
class Restriction:
    """A condition in Python's syntax.

    Attributes:
        tree: Its syntax tree.
        parameters: The parameters that it may use.
        text: The restriction as the user gave it, for messages.
        scope: Set of its parameters.
        is_plain: Whether it surely has a term: it is short, and its numbers and operators are of integers.
    """

    tree: ast.expr
    parameters: Parameters
    text: str
    scope: int = 0
    is_plain: bool = True

    def __post_init__(self) -> None:
        size = 0
        try:
            for node in ast.walk(self.tree):
                size += 1
                if type(node) is ast.Call:
                    _function_name(node, self.parameters)
                if type(node) not in _PLAIN_NODES or (
                    type(node) is ast.Constant and type(node.value) is not int
                ):
                    self.is_plain = False
            for name in _names(self.tree):
                self.scope |= 1 << self.parameters.number(name)
        except Refused as problem:
            raise ModelError(f"restriction {self.text!r}: {problem}") from problem
        if size > LARGEST_PLAIN or any(self.scope >> v & 1 for v in self.parameters.labels):
            self.is_plain = False

    @cached_property
    def _chosen(self) -> ast.expr:
        return chosen_outside(self.tree, self.parameters.floats)

    def term(self, terms: Terms) -> Term:
        """The term of the restriction."""
        try:
            return _TermReader(terms, self.parameters).condition(self._chosen)
        except TooManyCases:
            raise ModelError(
                f"restriction {self.text!r} has too many choices inside comparisons: give it as a callable"
            ) from None
        except (Refused, Unsupported) as problem:
            raise ModelError(f"restriction {self.text!r}: {problem}") from problem


def parse(text: str, parameters: Parameters) -> list[Restriction]:
    """The parts of a restriction, all of which must hold."""
    tree = parsed(text, f"restriction {shortened(text)} is not a Python expression")
    try:
        return split(tree, parameters, text)
    except RecursionError:
        raise ModelError(f"restriction {shortened(text)} is nested too deeply") from None


def split(tree: ast.expr, parameters: Parameters, text: str) -> list[Restriction]:
    """The parts of a restriction, all of which must hold; `a and b` holds if both do."""
    if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And):
        return [part for value in tree.values for part in split(value, parameters, text)]
    if isinstance(tree, ast.Compare) and len(tree.ops) > 1:
        return [Restriction(pair, parameters, text) for pair in pairs(tree)]
    return [Restriction(tree, parameters, text)]


def _function_name(node: ast.Call, parameters: Parameters) -> str:
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    inside = function.value if isinstance(function, ast.Attribute) else None
    module = isinstance(inside, ast.Name) and inside.id in ("math", "np", "numpy")
    if name not in _CALLED or node.keywords or not (module or inside is None):
        raise Refused(
            f"{ast.unparse(node)} is not supported; the functions are {', '.join(_CALLED)}. "
            "Anything else can be given as a callable"
        )
    clash = inside.id if isinstance(inside, ast.Name) else name
    if clash in parameters.numbers:
        raise Refused(f"'{clash}' is a parameter and Python's own name at once: rename the parameter")
    return name


def _names(tree: ast.AST) -> list[str]:
    if isinstance(tree, ast.Call):
        return [name for arg in tree.args for name in _names(arg)]
    if isinstance(tree, ast.Name):
        return [tree.id]
    return [name for child in ast.iter_child_nodes(tree) for name in _names(child)]


class _TermReader(ConditionReader[Term]):
    """Syntax trees as terms."""

    def __init__(self, terms: Terms, parameters: Parameters) -> None:
        self.terms = terms
        self.parameters = parameters

    def constant(self, value: bool | int | float) -> Term:
        return self.terms.const(value)

    def named(self, name: str) -> Term:
        number = self.parameters.number(name)
        if number in self.parameters.labels and not self._is_numeric(number):
            raise Refused(
                f"the values of '{name}' are not numbers: they can only be compared with constants and "
                "others of their kind; anything else can be given as a callable"
            )
        return self.terms.var(number)

    def truth(self, value: Term) -> Term:
        return self.terms.truth(value)

    def is_condition(self, value: Term) -> bool:
        return value.dtype == BOOL

    def negation(self, condition: Term) -> Term:
        return self.terms.negation(condition)

    def junction(self, op: str, conditions: Sequence[Term], *, lazy: bool = False) -> Term:
        return self.terms.junction(op, conditions, lazy=lazy and not all(part.safe for part in conditions))

    def negative(self, value: Term) -> Term:
        if value.is_int:
            return self.terms.sum((-1,), (value,))
        return term_functions.arithmetic(self.terms, "*", self.terms.const(-1.0), value)

    def arithmetic(self, node: ast.BinOp, left: Term, right: Term) -> Term:
        operator = type(node.op)
        if operator in _ARITHMETIC:
            return term_functions.arithmetic(self.terms, _ARITHMETIC[operator], left, right)
        function = _FUNCTION_OF.get(operator)
        if function is not None and (function is not Pow or (right.is_int and right.lo >= 0)):
            return term_functions.apply(self.terms, function, [left, right])
        raise self.refused(node)

    def comparison(self, op: str, left: Term, right: Term) -> Term:
        return self.terms.compare(op, left, right)

    def _pair(self, op: ast.cmpop, left: ast.expr, right: ast.expr) -> Term:
        if isinstance(op, ast.Eq | ast.NotEq):
            for one, other in ((left, right), (right, left)):
                if self._is_label(one) and isinstance(other, ast.Constant):
                    term = self._labelled(one, [other.value])
                    return term if isinstance(op, ast.Eq) else self.negation(term)
            if all(
                self._is_label(side) and not self._is_numeric(self._number(side)) for side in (left, right)
            ):
                term = self._same(left, right)
                return term if isinstance(op, ast.Eq) else self.negation(term)
        return super()._pair(op, left, right)

    def _number(self, node: ast.expr) -> int:
        assert isinstance(node, ast.Name)
        return self.parameters.number(node.id)

    def _is_label(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and self._number(node) in self.parameters.labels

    def _is_numeric(self, number: int) -> bool:
        return all(isinstance(label, bool | int | float) for label in self.parameters.labels[number].values())

    def _same(self, left: ast.expr, right: ast.expr) -> Term:
        """Whether two parameters have equal values, which need not be numbers."""
        labels = self.parameters.labels[self._number(left)].values()
        tests = [
            self.junction("and", [self._labelled(left, [label]), self._labelled(right, [label])])
            for label in labels
        ]
        return self.junction("or", tests)

    def _labelled(self, node: ast.expr, values: Sequence[Any]) -> Term:
        """Whether a parameter has one of these values, which need not be numbers."""
        number = self._number(node)
        codes = self.parameters.codes(number, values)
        variable = self.terms.var(number)
        return self.junction(
            "or", [self.comparison("==", variable, self.terms.const(code)) for code in codes]
        )

    def _member(self, left: ast.expr, right: ast.expr) -> Term:
        if self._is_label(left) and isinstance(right, ast.Tuple | ast.List | ast.Set):
            values = [item.value for item in right.elts if isinstance(item, ast.Constant)]
            if len(values) == len(right.elts):
                return self._labelled(left, values)
        return super()._member(left, right)

    def _call(self, node: ast.Call) -> Term:
        name = _function_name(node, self.parameters)
        args = [self.read(arg) for arg in node.args]
        if name in ("abs", "int", "bool") and len(args) != 1:
            raise Refused(f"{ast.unparse(node)}: {name} takes one argument")
        try:
            if name == "bool":
                return self.truth(args[0])
            if name == "int" and args[0].is_int:
                return args[0]
            if name != "int" and args:
                return term_functions.apply(self.terms, FUNCTIONS[name], args)
        except Unsupported as problem:
            raise Refused(f"{ast.unparse(node)}: {problem}; it can be given as a callable") from problem
        raise self.refused(node)
