"""The arrays of annealing, from functions; and the values that they stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log
from random import Random
from typing import TypeAlias

from constrint.engine.state_arrays import Box
from constrint.local_search.annealed_functions import AnnealedFunction
from constrint.local_search.annealed_layout import (
    COUNTED,
    GOAL,
    MOVES_OF_STAGE,
    NUMBER,
    OF_ARGUMENTS,
    PENALTY,
    PENALTY_LIMIT,
    RANDOM,
    SCALARS,
    SIGN,
    STAGE_LIMIT,
    STAGES,
    UNIT,
    VIOLATION,
    Annealed,
)
from constrint.local_search.invariants import Invariants
from constrint.local_search.random_numbers import first_number
from constrint.support.deadline import check_deadline

CHANCES = 1 << 12


def build(found: Invariants, seed: int, goal: tuple[int, str] | None, given: Mapping[int, int]) -> Annealed:
    """The state, from values of decided variables; others are drawn."""
    values = start(found, seed, given)
    functions = found.functions
    count = len(values)
    cell, counter, violation = _cells(functions, values)
    first, terms = _terms(functions, count)
    of_terms = [functions[f].terms[i] for f, i in terms]
    at = [
        counter[f] + one.b if one.kind == COUNTED else 0 for (f, _), one in zip(terms, of_terms, strict=True)
    ]
    holes, inside = _holes(found)
    partners, partners_end, is_exchanged, partner = _partners(found)
    begin, end, argument, parts = _given(functions)
    most_trail = 4 * len(terms) + 4 * count + 16
    state = Annealed(
        scalar=[0] * SCALARS,
        cell=cell,
        first=first,
        target=[f for f, _ in terms],
        kind_of_term=[one.kind for one in of_terms],
        a=[one.a for one in of_terms],
        b=[one.b for one in of_terms],
        at=at,
        kind=[function.kind for function in functions],
        is_opposite=[int(function.is_opposite) for function in functions],
        place=[count + f for f in range(len(functions))],
        out=[function.out for function in functions],
        low=[function.low for function in functions],
        high=[function.high for function in functions],
        begin=begin,
        end=end,
        argument=argument,
        parts=parts,
        due=[0] * (len(functions) + 1),
        is_due=[0] * len(functions),
        trail_place=[0] * most_trail,
        trail_value=[0] * most_trail,
        decided=list(found.decided),
        least=[found.box.lo[v] for v in found.decided],
        most=[found.box.hi[v] for v in found.decided],
        holes=holes,
        inside=inside,
        partners=partners,
        partners_end=partners_end,
        is_exchanged=is_exchanged,
        partner=partner,
        best=[values[v] for v in found.decided],
        chance=[int(-log((i + 0.5) / CHANCES) * UNIT) for i in range(CHANCES)],
    )
    _begin(state, found, seed, goal)
    state.scalar[VIOLATION] = violation
    return state


def _begin(state: Annealed, found: Invariants, seed: int, goal: tuple[int, str] | None) -> None:
    """Write the numbers with which it begins."""
    scalar, rules = state.scalar, found.rules
    scalar[RANDOM] = first_number(seed)
    scalar[GOAL] = -1 if goal is None else goal[0]
    scalar[SIGN] = -1 if goal is not None and goal[1] == "max" else 1
    scalar[PENALTY] = 1
    scalar[STAGES] = rules.stages
    scalar[MOVES_OF_STAGE] = rules.moves_of_stage * len(found.decided)
    scalar[STAGE_LIMIT] = max(rules.longest_stage, scalar[MOVES_OF_STAGE])
    scalar[PENALTY_LIMIT] = found.most_penalty


def _cells(functions: Sequence[AnnealedFunction], values: Sequence[int]) -> tuple[list[int], list[int], int]:
    """The cells, where the counter of 0 of each function is, and the sum of violations."""
    count, violation, counter = len(values), 0, list[int]()
    cell = [*values, *[0] * len(functions)]
    for f, function in enumerate(functions):
        check_deadline()
        cell[count + f] = function.total(values)
        counter.append(len(cell) - function.least)
        cell += [0] * function.width
        for term in function.terms if function.width else ():
            cell[counter[f] + term.a * values[term.v] + term.b] += 1
        violation += function.excess(values[function.out])
    return cell, counter, violation


TermPlace: TypeAlias = tuple[int, int]
"""A function, and the place of a term there."""


def _terms(functions: Sequence[AnnealedFunction], count: int) -> tuple[list[int], list[TermPlace]]:
    """Where the terms of each variable begin, and the terms."""
    by_variable: list[list[TermPlace]] = [[] for _ in range(count)]
    for f, function in enumerate(functions):
        check_deadline()
        for i, term in enumerate(function.terms):
            by_variable[term.v].append((f, i))
    first, terms = [0], list[TermPlace]()
    for places in by_variable:
        terms += places
        first.append(len(terms))
    return first, terms


def _given(functions: Sequence[AnnealedFunction]) -> tuple[list[int], list[int], list[int], list[int]]:
    """Where the arguments or numbers of each function begin and end; the arguments, and the numbers."""
    begin, end, argument, parts = list[int](), list[int](), list[int](), list[int]()
    known: dict[int, int] = {}
    for function in functions:
        check_deadline()
        if function.kind == NUMBER:
            if id(function.parts) not in known:
                known[id(function.parts)] = len(parts)
                parts += function.parts
            begin.append(known[id(function.parts)])
            end.append(begin[-1] + len(function.parts))
        else:
            begin.append(len(argument))
            if function.kind in OF_ARGUMENTS:
                argument += [term.v for term in function.terms]
            end.append(len(argument))
    return begin, end, argument, parts


def _holes(found: Invariants) -> tuple[list[int], list[int]]:
    """Where the values of decided variables' domains with holes are noted, and the notes."""
    holes, inside, box = list[int](), list[int](), found.box
    for v in found.decided:
        if box.values[v] is None and box.step[v] == 1:
            holes.append(-1)
            continue
        holes.append(len(inside))
        values = set(box.values[v] or range(box.lo[v], box.hi[v] + 1, box.step[v]))
        inside += [int(x in values) for x in range(box.lo[v], box.hi[v] + 1)]
    return holes, inside


def _partners(found: Invariants) -> tuple[list[int], list[int], list[int], list[int]]:
    """Of each decided variable the range of its partners, and whether it only exchanges; the partners.

    Those that may change freely also exchange values with those of the same bounds.
    """
    place = {v: i for i, v in enumerate(found.decided)}
    groups: list[tuple[list[int], bool]] = [
        ([place[v] for v in group if v in place], True) for group in found.exchanged
    ]
    grouped = {v for group in found.exchanged for v in group}
    alike: dict[tuple[int, int], list[int]] = {}
    for v in found.decided:
        if v not in grouped:
            alike.setdefault((found.box.lo[v], found.box.hi[v]), []).append(place[v])
    groups += [(group, False) for group in alike.values()]
    count = len(found.decided)
    begin, end, is_exchanged, partner = [0] * count, [0] * count, [0] * count, list[int]()
    for group, is_kept in groups:
        for i in group:
            begin[i], end[i], is_exchanged[i] = len(partner), len(partner) + len(group), int(is_kept)
        partner += group
    return begin, end, is_exchanged, partner


def start(found: Invariants, seed: int, given: Mapping[int, int]) -> list[int]:
    """The values of all variables from those of decided ones, which are given or else drawn.

    Groups that exchange their values begin with the values that they must have.
    """
    random = Random(seed)
    box = found.box
    values = [*box.lo, *[0] * (found.count - len(box.lo))]
    for v in found.decided:
        if v in given and box.lo[v] <= given[v] <= box.hi[v]:
            values[v] = given[v]
        elif box.values[v] is None:
            values[v] = random.randrange(box.lo[v], box.hi[v] + 1, box.step[v])
        else:
            values[v] = random.choice(list(box.values[v] or ()))
    for group, wanted in zip(found.exchanged, found.wanted, strict=True):
        if sorted(values[v] for v in group) != sorted(wanted):
            for v, x in zip(group, matched(box, group, wanted, random), strict=True):
                values[v] = x
    return completed(found, dict(zip(found.decided, [values[v] for v in found.decided], strict=True)))


def completed(found: Invariants, given: Mapping[int, int]) -> list[int]:
    """The values of all variables from those of decided ones."""
    values = [*found.box.lo, *[0] * (found.count - len(found.box.lo))]
    for v, x in given.items():
        values[v] = x
    for function in found.functions:
        values[function.out] = function.value(values)
    return values


def matched(box: Box, group: Sequence[int], wanted: Sequence[int], random: Random) -> list[int]:
    """The wanted values, one for each variable of a group and of its domain, as far as that is possible."""
    left = list(wanted)
    random.shuffle(left)
    taken: list[int | None] = [None] * len(left)  # the variable of each value
    for at in random.sample(range(len(group)), len(group)):
        _augment(box, group, left, taken, at)
    free = [i for i, owner in enumerate(taken) if owner is None]
    found = [0] * len(group)
    places = {owner: i for i, owner in enumerate(taken) if owner is not None}
    for at in range(len(group)):
        found[at] = left[places[at] if at in places else free.pop()]
    return found


def _augment(box: Box, group: Sequence[int], left: Sequence[int], taken: list[int | None], at: int) -> None:
    """Give a variable of a group a value, where others may take different ones for it."""
    came: dict[int, int] = {}  # the variable by which each value was reached
    todo = [at]
    for one in todo:
        v = group[one]
        for i, x in enumerate(left):
            if i in came or not box.lo[v] <= x <= box.hi[v] or not _has(box, v, x):
                continue
            came[i] = one
            owner = taken[i]
            if owner is not None:
                todo.append(owner)
                continue
            back: int | None = i
            while back is not None:
                giver = came[back]
                before = next((j for j, own in enumerate(taken) if own == giver), None)
                taken[back] = giver
                if before is not None:
                    taken[before] = None if before != back else giver
                back = before
            return


def _has(box: Box, v: int, x: int) -> bool:
    values = box.values[v]
    return x in values if values is not None else (x - box.lo[v]) % box.step[v] == 0
