"""FlatZinc's constraints by name: as conditions (`RELATIONS`), and as the numbers they define (`FUNCTIONS`).

A constraint whose name ends in `_reif` or `_imp` is the one without the suffix, equivalent to its last
argument or implied by it. Division rounds towards 0, and remainders have the sign of the dividend.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from constrint.expr import BoolConst, BoolExpr, IntExpr, Member
from constrint.expr.build import linear as of_terms
from constrint.expr.builders import table
from constrint.expr.domain import Domain
from constrint.expr.functions import (
    abs_,
    all_of,
    any_of,
    element,
    if_then_else,
    max_,
    min_,
    sum_,
    truncdiv,
    truncmod,
)
from constrint.frontends.flatzinc.set_builtins import SET_RELATIONS, contains
from constrint.frontends.flatzinc.typed_arguments import Arguments

Relation: TypeAlias = Callable[[Arguments], BoolExpr]
Function: TypeAlias = Callable[[Arguments], IntExpr]


MOST_PAIRS = 20_000  # most pairs of an index and a value that become a table


def power(x: IntExpr, y: IntExpr) -> IntExpr:
    """`x ** y`, which is `1 div x ** -y` where y is negative."""
    return if_then_else(y >= 0, x ** max_(y, 0), truncdiv(1 + 0 * x, x ** max_(-y, 0)))


def linear(a: Arguments) -> IntExpr:
    """The sum of the second argument's variables, times the first's coefficients."""
    return of_terms(list(zip(a.constants(0), a.numbers(1), strict=True)))


def booleans(a: Arguments) -> IntExpr:
    """The sum of the second argument's Boolean variables, times the first's coefficients."""
    return of_terms(list(zip(a.constants(0), a.conditions(1), strict=True)))


def chosen(values: Sequence[IntExpr], index: IntExpr) -> IntExpr:
    """`values[index]`, 1-based."""
    return element(values, index - 1)


def parity(conditions: Sequence[BoolExpr]) -> BoolExpr:
    """Whether an odd number of conditions hold."""
    return sum_([1 * condition for condition in conditions]) % 2 == 1


def clause(a: Arguments) -> BoolExpr:
    """At least one of the first conditions holds, or one of the second does not."""
    return any_of([*a.conditions(0), *(~condition for condition in a.conditions(1))])


def known_entry(a: Arguments) -> BoolExpr:
    """The third argument is the entry of a list of constants: the index is in the places of true entries."""
    index, values = a.number(0), a.constants(1)
    places = [place for place, value in enumerate(values, 1) if value]
    return all_of([index >= 1, index <= len(values), index.is_in(places).iff(a.condition(2))])


def _is_within(domain: Domain, lo: int, hi: int) -> bool:
    return domain.lo is not None and domain.hi is not None and lo <= domain.lo and domain.hi <= hi


def holding_entry(a: Arguments) -> BoolExpr:
    """The entry of a list of constants as a condition; the index must be inside in any case."""
    index: IntExpr = a.number(0)
    values = a.constants(1)
    domain = getattr(index, "domain", None)
    if not (isinstance(domain, Domain) and _is_within(domain, 1, len(values))):
        a.require((index >= 1) & (index <= len(values)))
    return index.is_in([place for place, value in enumerate(values, 1) if value])


def pairs_of_entries(
    index: IntExpr, values: Sequence[BoolExpr], result: BoolExpr
) -> tuple[IntExpr, list[tuple[int, int]]] | None:
    """The expression and all (index, value) pairs, if entries compare one expression and one must hold.

    MiniZinc writes ``y in sets[x]`` in this form.
    """
    if not (isinstance(result, BoolConst) and result.value):
        return None
    members = [value for value in values if isinstance(value, Member) and value.domain.size is not None]
    if len(members) < max(1, len(values)) or any(value.arg is not members[0].arg for value in members):
        return None
    if sum([value.domain.size or 0 for value in members]) > MOST_PAIRS:
        return None
    return members[0].arg, [(place, x) for place, value in enumerate(members, 1) for x in value.domain]


def entry(a: Arguments) -> BoolExpr:
    """The third argument equals the entry of a list of conditions."""
    index, values, result = a.number(0), a.conditions(1), a.condition(2)
    pairs = pairs_of_entries(index, values, result)
    if pairs is not None:
        return table([index, pairs[0]], pairs[1])
    cases = [(index != place) | value.iff(result) for place, value in enumerate(values, 1)]
    return all_of([index >= 1, index <= len(values), *cases])


class Defined(NamedTuple):
    """A number that a constraint defines.

    Attributes:
        number: The number.
        place: The index of the argument that is defined.
        is_partial: Whether it is undefined for some arguments, which no solution may have.
    """

    number: Function
    place: int
    is_partial: bool = False


FUNCTIONS: dict[str, Defined] = {
    "int_plus": Defined(lambda a: a.number(0) + a.number(1), 2),
    "int_minus": Defined(lambda a: a.number(0) - a.number(1), 2),
    "int_times": Defined(lambda a: a.number(0) * a.number(1), 2),
    "int_div": Defined(lambda a: truncdiv(a.number(0), a.number(1)), 2, is_partial=True),
    "int_mod": Defined(lambda a: truncmod(a.number(0), a.number(1)), 2, is_partial=True),
    "int_pow": Defined(lambda a: power(a.number(0), a.number(1)), 2, is_partial=True),
    "int_pow_fixed": Defined(lambda a: power(a.number(0), a.number(1)), 2, is_partial=True),
    "int_abs": Defined(lambda a: abs_(a.number(0)), 1),
    "int_negate": Defined(lambda a: -a.number(0), 1),
    "int_min": Defined(lambda a: min_(a.number(0), a.number(1)), 2),
    "int_max": Defined(lambda a: max_(a.number(0), a.number(1)), 2),
    "array_int_maximum": Defined(lambda a: max_(a.numbers(1)), 0),
    "array_int_minimum": Defined(lambda a: min_(a.numbers(1)), 0),
    "array_int_element": Defined(lambda a: chosen(a.numbers(1), a.number(0)), 2, is_partial=True),
    "array_var_int_element": Defined(lambda a: chosen(a.numbers(1), a.number(0)), 2, is_partial=True),
    "set_card": Defined(lambda a: a.set(0).cardinality, 1),
    "bool2int": Defined(lambda a: 1 * a.condition(0), 1),
}
"""By name: the number that is defined."""

RELATIONS: dict[str, Relation] = {
    "int_eq": lambda a: a.number(0) == a.number(1),
    "int_ne": lambda a: a.number(0) != a.number(1),
    "int_le": lambda a: a.number(0) <= a.number(1),
    "int_lt": lambda a: a.number(0) < a.number(1),
    "int_ge": lambda a: a.number(0) >= a.number(1),
    "int_gt": lambda a: a.number(0) > a.number(1),
    "int_lin_eq": lambda a: linear(a) == a.constant(2),
    "int_lin_ne": lambda a: linear(a) != a.constant(2),
    "int_lin_le": lambda a: linear(a) <= a.constant(2),
    "int_lin_lt": lambda a: linear(a) < a.constant(2),
    "int_lin_ge": lambda a: linear(a) >= a.constant(2),
    "int_lin_gt": lambda a: linear(a) > a.constant(2),
    "bool_lin_eq": lambda a: booleans(a) == a.number(2),
    "bool_lin_le": lambda a: booleans(a) <= a.number(2),
    "bool_eq": lambda a: a.condition(0).iff(a.condition(1)),
    "bool_ne": lambda a: a.condition(0) ^ a.condition(1),
    "bool_not": lambda a: a.condition(0) ^ a.condition(1),
    "bool_le": lambda a: a.condition(0).implies(a.condition(1)),
    "bool_lt": lambda a: ~a.condition(0) & a.condition(1),
    "bool_and": lambda a: (a.condition(0) & a.condition(1)).iff(a.condition(2)),
    "bool_or": lambda a: (a.condition(0) | a.condition(1)).iff(a.condition(2)),
    "bool_xor": lambda a: (a.condition(0) ^ a.condition(1)).iff(a.condition(2) if a.count > 2 else True),
    "bool_clause": clause,
    "array_bool_and": lambda a: all_of(a.conditions(0)).iff(a.condition(1)),
    "array_bool_or": lambda a: any_of(a.conditions(0)).iff(a.condition(1)),
    "array_bool_xor": lambda a: parity(a.conditions(0)),
    "array_bool_element": known_entry,
    "array_var_bool_element": entry,
    "set_in": lambda a: (
        member(a.number(0), a.members(1)) if a.is_constant_set(1) else contains(a.number(0), a.set(1))
    ),
    **SET_RELATIONS,
}
"""By name: the condition that must hold."""

CONDITIONS: dict[str, tuple[Relation, int]] = {
    "bool_and": (lambda a: a.condition(0) & a.condition(1), 2),
    "bool_or": (lambda a: a.condition(0) | a.condition(1), 2),
    "bool_xor": (lambda a: a.condition(0) ^ a.condition(1), 2),
    "bool_not": (lambda a: ~a.condition(0), 1),
    "bool_eq": (lambda a: a.condition(0), 1),
    "array_bool_and": (lambda a: all_of(a.conditions(0)), 1),
    "array_bool_or": (lambda a: any_of(a.conditions(0)), 1),
    "array_bool_element": (holding_entry, 2),
}
"""By name: the condition that defines a Boolean variable, and the index of that argument."""


def member(value: IntExpr, domain: Domain) -> BoolExpr:
    """The condition that a value is in a set."""
    if domain.values is None and domain.step == 1 and not domain.is_empty:
        bounds = []
        if domain.lo is not None:
            bounds.append(value >= domain.lo)
        if domain.hi is not None:
            bounds.append(value <= domain.hi)
        return all_of(bounds)
    return value.is_in(domain)


ENDINGS = ("_reif", "_imp")


def relation(name: str, extra: Mapping[str, Relation]) -> Relation | None:
    """The condition of a constraint by its name; None for one that is unknown."""
    known = extra.get(name) or RELATIONS.get(name)
    if known is not None:
        return known
    if name in FUNCTIONS:
        defined = FUNCTIONS[name]
        return lambda a: defined.number(a) == a.number(defined.place)
    for ending in ENDINGS:
        if name.endswith(ending):
            rest = name.removesuffix(ending)
            inner = None if rest.endswith(ENDINGS) else relation(rest, extra)
            if inner is None:
                return None
            if ending == "_reif":
                return lambda a: inner(a.but_last()).iff(a.last())
            return lambda a: a.last().implies(inner(a.but_last()))
    return None
