"""FlatZinc's constraints on sets, as conditions; `<` and `<=` compare the sorted lists of elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from constrint.expr import BoolConst, BoolExpr, IntExpr
from constrint.expr.functions import all_of, any_of
from constrint.frontends.flatzinc.typed_arguments import Arguments
from constrint.globals import lex_less, lex_less_equal
from constrint.modelling.symbols import SetExpr

_NOT_IN = BoolConst(False)


def contains(x: IntExpr, members: SetExpr) -> BoolExpr:
    """The condition that a number is in a set."""
    cases = [(x != one) | inside for one, inside in members.members.items()]
    return all_of([x.is_in(list(members.members)), *cases])


def _ordered(strict: bool) -> Callable[[Arguments], BoolExpr]:
    """The order of the sorted lists of elements, as that of lists with an entry for each possible element.

    The entry is 1 for an element, 2 where only greater ones follow, and 0 where none follow: at the first
    difference, the list that has ended is less, and so is the one that has the element.
    """

    def condition(a: Arguments) -> BoolExpr:
        one, other = a.set(0).members, a.set(1).members
        elements = sorted({*one, *other})
        a.combine(len(elements) ** 2)
        if not elements:
            return BoolConst(not strict)
        lists = [_entries([side.get(x, _NOT_IN) for x in elements]) for side in (one, other)]
        return (lex_less if strict else lex_less_equal)(*lists)

    return condition


def _entries(inside: Sequence[BoolExpr]) -> list[IntExpr]:
    return [2 * any_of(inside[i:]) - 1 * one for i, one in enumerate(inside)]


def _element(a: Arguments) -> BoolExpr:
    """The set in the third argument is the entry, counted from 1, of a list of sets."""
    index, entries, result = a.number(0), a.sets(1), a.set(2)
    inside = (index >= 1) & (index <= len(entries))
    elements = {one for entry in [*entries, result] for one in entry.members}
    a.combine(len(entries) * len(elements))
    if not all(isinstance(one, BoolConst) for entry in entries for one in entry.members.values()):
        return all_of([inside, *((index != i) | (entry == result) for i, entry in enumerate(entries, 1))])
    cases = []
    for one in elements:
        places = [i for i, entry in enumerate(entries, 1) if one in entry.members]
        cases.append(index.is_in(places).iff(result.members.get(one, _NOT_IN)))
    return all_of([inside, *cases])


SET_RELATIONS: dict[str, Callable[[Arguments], BoolExpr]] = {
    "set_eq": lambda a: a.set(0) == a.set(1),
    "set_ne": lambda a: a.set(0) != a.set(1),
    "set_le": _ordered(strict=False),
    "set_lt": _ordered(strict=True),
    "set_subset": lambda a: a.set(0) <= a.set(1),
    "set_superset": lambda a: a.set(0) >= a.set(1),
    "set_union": lambda a: (a.set(0) | a.set(1)) == a.set(2),
    "set_intersect": lambda a: (a.set(0) & a.set(1)) == a.set(2),
    "set_diff": lambda a: (a.set(0) - a.set(1)) == a.set(2),
    "set_symdiff": lambda a: (a.set(0) ^ a.set(1)) == a.set(2),
    "array_set_element": _element,
    "array_var_set_element": _element,
}
"""By name: the condition that must hold."""
