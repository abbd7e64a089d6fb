"""The constraints of XCSP3-core, each as a condition over the variables of an instance."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from xml.etree.ElementTree import Element

from constrint import globals as g
from constrint.errors import ModelError
from constrint.expr import And, BoolExpr, Comparison, Const, IntExpr, Or
from constrint.expr.builders import table
from constrint.expr.functions import all_of, any_of, element, sum_
from constrint.frontends.xcsp3 import automata, placing
from constrint.frontends.xcsp3.accepted import refuse_unread
from constrint.frontends.xcsp3.intension import condition
from constrint.frontends.xcsp3.list_extremes import extreme, extreme_place, rank_of, ranked_entry
from constrint.frontends.xcsp3.numbers import groups, shown
from constrint.frontends.xcsp3.reader import OPERATORS, PartReader
from constrint.frontends.xcsp3.variables import text_of


def constraint(reader: PartReader, node: Element) -> BoolExpr:
    """The condition of an element; raises `ModelError` if it is not supported, or is not a constraint."""
    reader.budget.node()
    rule = _RULES.get(node.tag)
    if rule is None:
        raise ModelError(f"the constraint <{shown(node.tag)}> is not supported")
    refuse_unread(node)
    found = rule(reader, node)
    for attribute, states in _REIFIED.items():
        name = node.get(attribute)
        if name is not None:
            found = states(found, reader.variables.variable(name) == 1)
    return found


_REIFIED: dict[str, Callable[[BoolExpr, BoolExpr], BoolExpr]] = {
    "reifiedBy": lambda found, literal: found.iff(literal),
    "hreifiedFrom": lambda found, literal: literal.implies(found),
    "hreifiedTo": lambda found, literal: found.implies(literal),
}


def _intension(reader: PartReader, node: Element) -> BoolExpr:
    part = node.find("function")
    return condition(text_of(node if part is None else part), reader.variables.variable, reader.budget)


def _extension(reader: PartReader, node: Element) -> BoolExpr:
    args = reader.listed(node)
    supports, conflicts = node.find("supports"), node.find("conflicts")
    text = text_of(conflicts if supports is None else supports)
    rows, starred = _tuples(reader, text, len(args))
    found = g.table(args, [*rows, *starred])
    return found if supports is not None else ~found


def _tuples(reader: PartReader, text: str, width: int) -> tuple[list[list[int]], list[list[int | None]]]:
    rows: list[list[int]] = []
    starred: list[list[int | None]] = []
    if width == 1 and "(" not in text:
        return [[value] for value in reader.integers(text)], []
    for words in groups(text, "tuples", reader.budget):
        if len(words) != width:
            inner = shown(",".join(words))
            raise ModelError(f"the tuple ({inner}) has {len(words)} entries for {width} variables")
        if "*" in words:
            starred.append([None if word == "*" else reader.integer(word) for word in words])
        else:
            rows.append([reader.integer(word) for word in words])
    return rows, starred


def _all_different(reader: PartReader, node: Element) -> BoolExpr:
    excepted = text_of(node.find("except"))
    if node.find("matrix") is not None:
        rows, free = _rectangle(reader, node), reader.integers(excepted)
        lines = [*rows, *(list(column) for column in zip(*rows, strict=True))]
        return all_of([_values_differ(reader, line, free) for line in lines])
    if len(node.findall("list")) > 1:
        found = _rectangle(reader, node)
        excused = _tuples(reader, excepted, len(found[0]))[0]
        reader.combine(len(found) * (len(found) - 1) // 2, 3 * len(found[0]) + 3)
        are_free = [table(row, excused) if excused else any_of([]) for row in found]
        return all_of([_differ(a, b) | are_free[i] for i, a in enumerate(found) for b in found[:i]])
    return _values_differ(reader, reader.listed(node), reader.integers(excepted))


def _rectangle(reader: PartReader, node: Element) -> list[list[IntExpr]]:
    """Rows of equal length, which is not 0."""
    rows = reader.rows(node)
    if len({len(row) for row in rows}) != 1 or not rows[0]:
        raise ModelError("the rows must have one length, and none may be empty")
    return rows


def _values_differ(reader: PartReader, args: Sequence[IntExpr], free: Sequence[int]) -> BoolExpr:
    """All different, except for some values that may occur more than once."""
    if not free:
        return g.all_different(args) if args else all_of([])
    return g.all_different_except(args, free) if args else all_of([])


def _differ(xs: Sequence[IntExpr], ys: Sequence[IntExpr]) -> BoolExpr:
    return Or(tuple([Comparison("!=", x, y) for x, y in zip(xs, ys, strict=True)]))


def _all_equal(reader: PartReader, node: Element) -> BoolExpr:
    free = reader.integers(text_of(node.find("except")))
    args = reader.listed(node)
    if not free:
        return all_of([args[0] == other for other in args[1:]])
    reader.combine(len(args) * (len(args) - 1) // 2, 6)
    are_free = [a.is_in(free) for a in args]
    return all_of(
        [
            Or((Comparison("==", a, b), are_free[i], are_free[j]))
            for i, a in enumerate(args)
            for j, b in enumerate(args[:i])
        ]
    )


def _ordered(reader: PartReader, node: Element) -> BoolExpr:
    args = reader.listed(node)
    operator = text_of(node.find("operator")) or node.get("case") or "le"
    if operator not in OPERATORS:
        raise ModelError(f"the operator '{shown(operator)}' is not known")
    compare = OPERATORS[operator]
    lengths = reader.terms(text_of(node.find("lengths"))) or [Const(0)] * (len(args) - 1)
    if len(lengths) < len(args) - 1:
        raise ModelError(f"there are {len(lengths)} lengths for {len(args)} variables")
    return all_of([compare(x + gap, y) for x, gap, y in zip(args, lengths, args[1:], strict=False)])


def _lex(reader: PartReader, node: Element) -> BoolExpr:
    rows = reader.rows(node)
    operator = text_of(node.find("operator"))
    if operator in ("gt", "ge"):
        rows, operator = [row[::1] for row in rows[::-1]], {"gt": "lt", "ge": "le"}[operator]
    compare = g.lex_less if operator == "lt" else g.lex_less_equal
    lists = [rows]
    if node.find("matrix") is not None:
        lists.append([list(column) for column in zip(*reader.rows(node), strict=True)])
        if text_of(node.find("operator")) in ("gt", "ge"):
            lists[1] = lists[1][::-1]
    return all_of([compare(a, b) for one in lists for a, b in pairwise(one)])


def _sum(reader: PartReader, node: Element) -> BoolExpr:
    args = reader.listed(node)
    part = node.find("coeffs")
    coefficients = reader.terms(text_of(part)) if part is not None else [Const(1)] * len(args)
    if len(coefficients) != len(args):
        raise ModelError(f"a sum has {len(coefficients)} coefficients for {len(args)} variables")
    total = sum_([a * x for a, x in zip(coefficients, args, strict=True)])
    return reader.compared(total, text_of(node.find("condition")))


def _count(reader: PartReader, node: Element) -> BoolExpr:
    args, values = reader.listed(node), reader.terms(text_of(node.find("values")))
    reader.combine(len(args), 2 + 3 * len(values))
    number = sum_([1 * any_of([x == value for value in values]) for x in args])
    return reader.compared(number, text_of(node.find("condition")))


def _n_values(reader: PartReader, node: Element) -> BoolExpr:
    args, excepted = reader.listed(node), node.find("except")
    if excepted is None:
        return reader.compared(g.nvalue(args), text_of(node.find("condition")))
    free = reader.integers(text_of(excepted))
    reader.combine(len(args) * (len(args) + 1) // 2, 3)
    new = [And((~x.is_in(free), *[Comparison("!=", x, y) for y in args[:i]])) for i, x in enumerate(args)]
    return reader.compared(sum_([1 * one for one in new]), text_of(node.find("condition")))


def _cardinality(reader: PartReader, node: Element) -> BoolExpr:
    args, part = reader.listed(node), node.find("values")
    values = reader.terms(text_of(part))
    reader.combine(len(values), 6 * len(args))
    counts = [sum_([1 * (x == value) for x in args]) for value in values]
    occurs = _occurrences(reader, node)
    if len(occurs) != len(counts):
        raise ModelError(f"there are {len(occurs)} numbers of occurrences for {len(counts)} values")
    parts = [_occurs(reader, count, word) for count, word in zip(counts, occurs, strict=True)]
    if part is not None and part.get("closed") == "true":
        parts += [any_of([x == value for value in values]) for x in args]
    return all_of(parts)


def _occurrences(reader: PartReader, node: Element) -> list[str]:
    """The number of occurrences of each value: integers, ranges or variables, one word each."""
    words: list[str] = []
    for word in text_of(node.find("occurs")).split():
        repeated = re.fullmatch(r"(-?[0-9]+)x([0-9]+)", word)
        if repeated:
            words += map(str, reader.integers(word))
        elif ".." in word and not reader.variables.is_one(word):
            words.append(word)
        else:
            words += reader.variables.named(word) if reader.variables.is_one(word) else [word]
    return words


def _occurs(reader: PartReader, count: IntExpr, word: str) -> BoolExpr:
    low, dots, high = word.partition("..")
    if dots and "[" not in word:
        return (count >= reader.integer(low)) & (count <= reader.integer(high))
    return count == reader.term(word)


def _element(reader: PartReader, node: Element) -> BoolExpr:
    part = node.find("index")
    wanted, value = node.find("condition"), node.find("value")
    matrix = node.find("matrix")
    if matrix is not None:
        return _matrix_element(reader, node, matrix)
    args = reader.listed(node)
    if part is None:
        chosen_by = reader.term(text_of(value))
        reader.combine(len(args), 3)
        return any_of([x == chosen_by for x in args])
    start = reader.attribute(node.find("list"), "startIndex")
    reader.combine(len(args), 5)
    index, rank = reader.term(text_of(part)) - start, rank_of(part)

    def is_wanted(entry: IntExpr) -> BoolExpr:
        if wanted is not None:
            return reader.compared(entry, text_of(wanted))
        return entry == reader.term(text_of(value))

    if rank != "any":
        return ranked_entry(reader, args, index, rank, is_wanted)
    return is_wanted(element(args, index))


def _matrix_element(reader: PartReader, node: Element, matrix: Element) -> BoolExpr:
    index = node.find("index")
    if index is not None and rank_of(index) != "any":
        raise ModelError("a rank of the index of a matrix is not supported")
    text = text_of(matrix)
    if text.startswith("("):
        rows = reader.term_rows(text, "matrix")
    else:
        rows = reader.rows(node)
    indices = reader.terms(text_of(node.find("index")))
    if len(indices) != 2:
        raise ModelError(f"a matrix has two indices, not {len(indices)}")
    if len({len(line) for line in rows}) != 1 or not rows[0]:
        raise ModelError("the rows must have one length, and none may be empty")
    row = indices[0] - reader.attribute(matrix, "startRowIndex")
    column = indices[1] - reader.attribute(matrix, "startColIndex")
    chosen = g.element_2d(rows, row, column)
    wanted, value = node.find("condition"), node.find("value")
    if wanted is not None:
        return reader.compared(chosen, text_of(wanted))
    return chosen == reader.term(text_of(value))


def _instantiation(reader: PartReader, node: Element) -> BoolExpr:
    args = reader.listed(node)
    values: list[int | None] = []  # a star leaves a variable as it is
    for word in text_of(node.find("values")).split():
        values += [None] if word == "*" else reader.integers(word)
    if len(values) != len(args):
        raise ModelError(f"there are {len(values)} values for {len(args)} variables")
    return all_of([x == value for x, value in zip(args, values, strict=True) if value is not None])


def _clause(reader: PartReader, node: Element) -> BoolExpr:
    tests = []
    for word in text_of(node.find("list") if node.find("list") is not None else node).split():
        negated = word.startswith("not(")
        if negated and not word.endswith(")"):
            raise ModelError(f"'{shown(word)}': ')' is missing")
        name = word[4:-1] if negated else word
        tests.append(reader.variables.variable(name) == (0 if negated else 1))
    return any_of(tests)


_RULES: dict[str, Callable[[PartReader, Element], BoolExpr]] = {
    "intension": _intension,
    "extension": _extension,
    "allDifferent": _all_different,
    "allEqual": _all_equal,
    "ordered": _ordered,
    "lex": _lex,
    "sum": _sum,
    "count": _count,
    "nValues": _n_values,
    "cardinality": _cardinality,
    "maximum": extreme(True),
    "minimum": extreme(False),
    "maximumArg": extreme_place(True),
    "minimumArg": extreme_place(False),
    "element": _element,
    "channel": placing.channel,
    "noOverlap": placing.no_overlap,
    "cumulative": placing.cumulative,
    "binPacking": placing.bin_packing,
    "knapsack": placing.knapsack,
    "circuit": placing.circuit,
    "instantiation": _instantiation,
    "regular": automata.regular,
    "mdd": automata.mdd,
    "precedence": automata.precedence,
    "clause": _clause,
}
