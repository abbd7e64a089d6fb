"""Expressions of a model as terms."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from constrint import expr as e
from constrint.diagrams import term_functions
from constrint.diagrams.terms import Term, Terms, Unsupported
from constrint.globals import Function, Relation
from constrint.support.deadline import check_deadline


class Translator:
    """Translates expressions into terms, each once.

    Attributes:
        terms: The factory of terms.
    """

    def __init__(self, terms: Terms, numbers: dict[str, int]) -> None:
        self.terms = terms
        self._numbers = numbers
        self._known: dict[int, Term] = {}
        self._kept: list[e.IntExpr] = []

    def term(self, node: e.IntExpr) -> Term:
        """The term of an expression."""
        known = self._known.get(id(node))
        if known is None:
            check_deadline()
            rule = _RULES.get(type(node)) or _function
            known = self._known[id(node)] = rule(self, node)
        return known

    def condition(self, node: e.IntExpr) -> Term:
        """The term of a whole condition."""
        return self.terms.truth(self.term(node))

    def kept(self, node: e.IntExpr) -> e.IntExpr:
        """Keep an expression made here alive: terms are cached by the identity of their expressions."""
        self._kept.append(node)
        return node

    def args(self, nodes: Iterable[e.IntExpr]) -> list[Term]:
        """The terms of several expressions."""
        return [self.term(node) for node in nodes]

    def variable(self, node: e.IntVar | e.BoolVar) -> Term:
        """The term of a variable."""
        number = self._numbers.get(node.name)
        if number is None:
            raise Unsupported(f"'{node.name}', which is not a variable of this model")
        term = self.terms.var(number)
        if isinstance(node, e.BoolVar) and term.op == "const":
            return self.terms.const(bool(term.data))
        return self.terms.truth(term) if isinstance(node, e.BoolVar) else term


def _member(translator: Translator, node: e.Member) -> Term:
    terms = translator.terms
    arg = translator.term(node.arg)
    domain = node.domain
    if domain.is_empty:
        return terms.false
    if domain.values is not None:
        return terms.member(arg, domain.values)
    return terms.within(arg, domain.lo, domain.hi, domain.step)


def _junction(op: str) -> Callable[[Translator, Any], Term]:
    return lambda translator, node: translator.terms.junction(op, translator.args(node.args))


def _implies(translator: Translator, node: e.Implies) -> Term:
    terms = translator.terms
    left, right = translator.term(node.left), translator.term(node.right)
    return terms.junction("or", [terms.negation(left), right])


def _if_then_else(translator: Translator, node: e.IfThenElse) -> Term:
    # condition * (then - otherwise) + otherwise
    terms = translator.terms
    condition, then, otherwise = translator.args(node.children)
    if not (then.safe and otherwise.safe):
        return terms.choice(condition, then, otherwise)
    difference = terms.sum([1, -1], [then, otherwise], 0)
    return terms.sum([1, 1], [terms.mul([condition, difference]), otherwise], 0)


def _table(translator: Translator, node: e.Table) -> Term:
    terms = translator.terms
    args = translator.args(node.args)
    rows = [
        terms.junction(
            "and", [terms.compare("==", arg, terms.const(x)) for arg, x in zip(args, row, strict=True)]
        )
        for row in sorted(node.rows)
    ]
    return terms.junction("or", [*rows, terms.junction("and", [terms.false, *map(terms.defined, args)])])


def _held(rule: Callable[[Translator, Any], Term]) -> Callable[[Translator, Any], Term]:
    """The rule of a condition on integers, which is false if one of them is undefined."""
    return lambda translator, node: translator.terms.held(rule(translator, node))


def _global(translator: Translator, node: Relation | Function) -> Term:
    return translator.term(translator.kept(node.decomposed()))


def _function(translator: Translator, node: e.IntExpr) -> Term:
    if not isinstance(node, e.IntFunction):
        raise Unsupported(f"expressions of type {type(node).__name__}")
    parts = node.decomposed()
    if parts is not None:
        return translator.term(translator.kept(parts))
    return term_functions.apply(translator.terms, type(node), translator.args(node.children))


_RULES: dict[type, Callable[[Translator, Any], Term]] = {
    e.Const: lambda translator, node: translator.terms.const(int(node.value)),
    e.BoolConst: lambda translator, node: translator.terms.const(bool(node.value)),
    e.IntVar: Translator.variable,
    e.BoolVar: Translator.variable,
    e.Sum: lambda translator, node: translator.terms.sum(
        [a for a, _ in node.terms], translator.args(node.children), node.constant
    ),
    e.Mul: lambda translator, node: translator.terms.mul(translator.args(node.args)),
    e.Element: lambda translator, node: term_functions.element(
        translator.terms, node.values, translator.term(node.index)
    ),
    e.Comparison: _held(
        lambda translator, node: translator.terms.compare(
            node.operator, translator.term(node.left), translator.term(node.right)
        )
    ),
    e.Divides: _held(
        lambda translator, node: translator.terms.divides(
            translator.term(node.divisor), translator.term(node.dividend)
        )
    ),
    e.Member: _held(_member),
    e.IfThenElse: _if_then_else,
    e.Table: _held(_table),
    Relation: _global,
    Function: _global,
    e.And: _junction("and"),
    e.Or: _junction("or"),
    e.Not: lambda translator, node: translator.terms.negation(translator.term(node.arg)),
    e.Implies: _implies,
    e.Iff: lambda translator, node: translator.terms.iff(*translator.args(node.children)),
}


def conjuncts(condition: e.BoolExpr) -> list[e.BoolExpr]:
    """The parts of a condition, all of which must hold."""
    check_deadline()
    if isinstance(condition, e.And):
        return [part for arg in condition.args for part in conjuncts(arg)]
    if isinstance(condition, Relation) and isinstance(parts := condition.decomposed(), e.And):
        return conjuncts(parts)
    return [condition]
