r"""Expressions as LaTeX for notebooks, by the binding strengths of the text: `x // 2` is ⌊x/2⌋."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from constrint.errors import shown
from constrint.expr import (
    And,
    BoolConst,
    BoolVar,
    Comparison,
    Const,
    Divides,
    Element,
    FloorDiv,
    Iff,
    IfThenElse,
    Implies,
    IntExpr,
    IntVar,
    Member,
    Mod,
    Mul,
    Not,
    Or,
    Pow,
    Selection,
    Sum,
    Table,
)
from constrint.expr.arithmetic.absolute import Abs
from constrint.expr.conditions import Scale
from constrint.expr.global_expr import Function, Relation
from constrint.expr.shown import SHOWN_ENTRIES, Cut, shortened, show_domain
from constrint.expr.strengths import AND, ATOM, COMPARE, IFF, IMPLIES, NOT, OR, POWER, PRODUCT, SIGN, SUM
from constrint.expr.written_calls import write_call

_ELEMENT = re.compile(r"(\w+?)(?:\[(-?\d+(?:,-?\d+)*)\]|(\d+))")
_RELATIONS = {"==": "=", "!=": r"\neq", "<=": r"\le", ">=": r"\ge", "<": "<", ">": ">"}
_SPECIAL = {character: rf"\{character}" for character in "&%$#_{}"} | {
    "\\": r"\backslash{}",
    "~": r"\sim{}",
    "^": r"\hat{}",
    "<": "{<}",  # no tag in the page that shows it
    ">": "{>}",
}

Written = tuple[str, int]


def latex(expr: IntExpr) -> str:
    """The LaTeX of an expression, without dollar signs; large expressions are cut as in their text."""
    return _text(shortened(expr))


def latex_name(name: str) -> str:
    """The LaTeX of a name: one letter in italics, indices of arrays and numbers at its end below."""
    found = _ELEMENT.fullmatch(name)
    stem, index = (found[1], found[2] or found[3]) if found else (name, None)
    word = stem if len(stem) == 1 and stem.isalpha() else rf"\mathit{{{_escaped(stem)}}}"
    return word if index is None else f"{word}_{{{index}}}"


def _escaped(text: str) -> str:
    return "".join([_SPECIAL.get(character, character) for character in shown(text, 60)])


def _text(expr: IntExpr, least: int = IFF) -> str:
    if isinstance(expr, Cut):
        plain = expr.text == "…"
        return r"\ldots" if plain else rf"\text{{{_escaped(expr.text)}}}"
    write = _WRITERS.get(type(expr), _call)
    text, binding = write(expr)
    return text if binding >= least else rf"\left({text}\right)"


def _joined(parts: tuple[object, ...], least: int = IFF, by: str = ", ") -> str:
    return by.join([_text(part, least) if isinstance(part, IntExpr) else str(part) for part in parts])


def _call(expr: IntExpr) -> Written:
    if isinstance(expr, Relation | Function):
        name, _, arguments = write_call(_text, expr).partition("(")
        return rf"\operatorname{{{_escaped(name)}}}({arguments}", ATOM
    name = getattr(expr, "name", type(expr).__name__)
    return rf"\operatorname{{{_escaped(str(name))}}}({_joined(expr.children)})", ATOM


def _table(expr: Table) -> Written:
    rows = ", ".join([f"({', '.join(map(str, row))})" for row in sorted(expr.rows)])
    return rf"({_joined(expr.args)}) \in \{{{rows}\}}", COMPARE


def _sum(expr: Sum) -> Written:
    text = ""
    for coefficient, term in expr.terms:
        size = abs(coefficient)
        written = _text(term, PRODUCT if size == 1 or type(term) is Mul else SIGN)
        scaled = (
            written
            if size == 1
            else rf"{size} \cdot {written}"
            if written[0].isdigit()
            else f"{size} {written}"
        )
        sign = "-" if coefficient < 0 else "+"
        text += f" {sign} {scaled}" if text else f"-{scaled}" if coefficient < 0 else scaled
    if expr.constant:
        text += f" {'-' if expr.constant < 0 else '+'} {abs(expr.constant)}"
    return text, SUM


def _junction(word: str, level: int) -> Callable[[Any], Written]:
    def write(expr: And | Or) -> Written:
        if len(expr.args) < 2:
            return (
                _text(expr.args[0], ATOM) if expr.args else r"\top" if word == r"\land" else r"\bot"
            ), ATOM
        return _joined(expr.args, level + 1, f" {word} "), level

    return write


def _pair(word: str, level: int, left: int, right: int) -> Callable[[Any], Written]:
    def write(expr: IntExpr) -> Written:
        first, second = expr.children
        return f"{_text(first, left)} {word} {_text(second, right)}", level

    return write


def _comparison(expr: Comparison) -> Written:
    left, right = [_side(side, expr.scale) for side in expr.children]
    return f"{left} {_RELATIONS[expr.operator]} {right}", COMPARE


def _side(expr: IntExpr, scale: Scale | None) -> str:
    """One side of a comparison, as the fraction that it was."""
    return _text(expr, SUM) if scale is None else _fraction(expr, scale.denominator)


def latex_fraction(numerator: IntExpr, denominator: int) -> str:
    """The LaTeX of a fraction, without dollar signs."""
    return _fraction(shortened(numerator), denominator)


def _fraction(numerator: IntExpr, denominator: int) -> str:
    from constrint.expr.rational import in_lowest_terms

    rest, divisor = in_lowest_terms(numerator, denominator)
    return _text(rest, SUM) if divisor == 1 else rf"\frac{{{_text(rest)}}}{{{divisor}}}"


def _member(expr: Member, relation: str = r"\in") -> Written:
    domain = expr.domain
    if expr.scale is not None:
        from constrint.expr.written_fractions import show_members

        values = _escaped(show_members(domain, expr.scale)).replace("..", r" \ldots ")
        return f"{_fraction(expr.arg, expr.scale.denominator)} {relation} {values}", COMPARE
    if domain.step > 1 and domain.values is None and domain.size is not None and domain.size <= SHOWN_ENTRIES:
        values = rf"\{{{', '.join(map(str, domain))}\}}"
    else:
        values = _escaped(show_domain(domain)).replace("..", r" \ldots ").replace("…", r"\ldots")
        values = values.replace("step", r"\text{ step }")
        values = values if values.startswith(r"\{") else rf"\{{{values}\}}"
    return f"{_text(expr.arg, SUM)} {relation} {values}", COMPARE


def _negation(expr: Not) -> Written:
    if type(expr.arg) is Member:
        return _member(expr.arg, r"\notin")
    return rf"\lnot {_text(expr.arg, ATOM)}", NOT


def _choice(expr: IfThenElse) -> Written:
    chosen = rf"{_text(expr.then)} & \text{{if }} {_text(expr.condition)}"
    return rf"\begin{{cases}}{chosen} \\ {_text(expr.otherwise)} & \text{{otherwise}}\end{{cases}}", ATOM


_WRITERS: dict[type[IntExpr], Callable[[Any], Written]] = {
    Const: lambda expr: (str(expr.value), ATOM if expr.value >= 0 else SIGN),
    IntVar: lambda expr: (latex_name(expr.name), ATOM),
    BoolVar: lambda expr: (latex_name(expr.name), ATOM),
    BoolConst: lambda expr: (r"\top" if expr.value else r"\bot", ATOM),
    Sum: _sum,
    Mul: lambda expr: (_joined(expr.args, SIGN, r" \cdot "), PRODUCT),
    FloorDiv: lambda expr: (
        rf"\left\lfloor \frac{{{_text(expr.left)}}}{{{_text(expr.right)}}} \right\rfloor",
        ATOM,
    ),
    Mod: lambda expr: (rf"{_text(expr.left, SIGN)} \bmod {_text(expr.right, SIGN)}", PRODUCT),
    Pow: lambda expr: (f"{{{_text(expr.left, ATOM)}}}^{{{_text(expr.right)}}}", POWER),
    Abs: lambda expr: (rf"\left|{_text(expr.arg)}\right|", ATOM),
    Element: lambda expr: (f"[{_joined(expr.values)}]_{{{_text(expr.index)}}}", ATOM),
    Selection: lambda expr: (f"[{_joined(expr.entries)}]_{{{_text(expr.index)}}}", ATOM),
    IfThenElse: _choice,
    Comparison: _comparison,
    Divides: _pair(r"\mid", COMPARE, SUM, SUM),
    Member: _member,
    Table: _table,
    Not: _negation,
    And: _junction(r"\land", AND),
    Or: _junction(r"\lor", OR),
    Implies: _pair(r"\rightarrow", IMPLIES, OR, IMPLIES),
    Iff: _pair(r"\leftrightarrow", IFF, IMPLIES, IFF),
}
"""How each node is written; functions that are not here are called by name."""
