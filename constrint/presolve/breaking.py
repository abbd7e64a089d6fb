"""One solution of many symmetric ones: constraints that keep the least by one order of all variables.

All solutions that exchanges make of one another have a least one in lexicographic order. It is no greater
than its image by any exchange. So for each exchange found, in the same order of variables, that is required
(Crawford, Ginsberg, Luks and Roy, "Symmetry-breaking predicates for search problems", KR 1996). For names of
values it means that the smaller of two comes first (Law and Lee, "Global constraints for integer and set
value precedence", CP 2004).

Only for searches for one solution or an optimum; solutions are lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from constrint.engine.state_arrays import Box
from constrint.lowering.variables import TRUE
from constrint.presolve.root import Root
from constrint.presolve.structure import ColouredStructure
from constrint.presolve.symmetry import Exchange, Symmetries
from constrint.propagators import DIFFERENT, Clause, Lexicographic, LinearEqIf, LinearLe, Propagator


@dataclass(frozen=True, slots=True)
class SymmetryBroken:
    """A root whose symmetric solutions are lost but for one.

    Attributes:
        root: The root with all constraints.
        ordered: The root with those that order variables; clauses that order names do not help an LP.
        unsought: The reason why symmetries were not looked for, or None.
    """

    root: Root
    ordered: Root
    unsought: str | None = None


def without_symmetries(root: Root, goal: tuple[int, str] | None, declared: Iterable[int]) -> SymmetryBroken:
    """The root with constraints that leave one of symmetric solutions; the root itself if none are found.

    Args:
        root: The root of a search for one solution, or for the best.
        goal: What is optimised.
        declared: The variables of the model; they come first in the order.
    """
    rules = root.settings.presolve
    items = sum(len(node.scope()) for node in root.propagators)
    if items <= rules.most_items:
        structure = ColouredStructure(root.box, root.propagators, goal)
        items = sum(len(items) for _, items in structure.facts)
    if items > rules.most_items:
        count = len(root.propagators)
        limit = f"more than {rules.most_items:,} (presolve.most_items)"
        return SymmetryBroken(root, root, f"{count:,} constraints have {items:,} items, {limit}")
    found = Symmetries(structure, rules).found
    if not found:
        return SymmetryBroken(root, root)
    breaking = _Breaking(root, structure, _order(root, structure, declared))
    for exchange in found:
        breaking.add(exchange)
    return breaking.result()


def _order(root: Root, structure: ColouredStructure, declared: Iterable[int]) -> list[int]:
    """All variables: those whose values are names, first those of a greatest clique; then the declared."""
    widest: tuple[int, ...] = ()
    named = {v for members in structure.groups.values() for v in members}
    for node in root.propagators:
        if isinstance(node, DIFFERENT) and len(node.views) > len(widest):
            widest = node.scope()
    first = set(widest)
    own = set(declared)
    return sorted(
        range(len(root.box.lo)),
        key=lambda v: (v not in named, v not in named or v not in first, v not in own, v),
    )


class _Breaking:
    """The constraints, as exchanges are added."""

    def __init__(self, root: Root, structure: ColouredStructure, order: Sequence[int]) -> None:
        self._root = root
        self._rules = root.settings.presolve
        self._structure = structure
        self._order = order
        self._place = {v: i for i, v in enumerate(order)}
        self._lo, self._hi = list(root.box.lo), list(root.box.hi)
        self._orders: list[Propagator] = []
        self._names: list[Propagator] = []
        self._seen: dict[tuple[int, int], list[int]] = {}
        self._literals = {
            (node.terms[0][1], node.bound): node.literal
            for node in root.propagators
            if isinstance(node, LinearEqIf) and len(node.terms) == 1 and node.terms[0][0] == 1
        }
        self._made = 0

    def add(self, exchange: Exchange) -> None:
        """Require that a solution is no greater than its image."""
        values = self._structure.values
        renamed = {v for v in exchange if v in values and values[v][1] != values[exchange[v]][1]}
        moved = [v for v in exchange if v not in values]
        if not renamed:
            self._order_variables(exchange, moved)
            return
        if len(renamed) == 2:
            u, w = sorted(renamed, key=lambda v: values[v][1])
            (group, value), (other, greater) = values[u], values[w]
            if group == other and not any(self._is_named(v) for v in moved):
                self._order_values(group, value, greater)

    def _is_named(self, v: int) -> bool:
        return any(v in members for members in self._structure.groups.values())

    def _order_variables(self, exchange: Exchange, moved: Sequence[int]) -> None:
        """The variables that move are no greater, in order, than those in whose place they come."""
        pairs = sorted(
            ((v, exchange[v]) for v in moved if self._place[v] < self._place[exchange[v]]),
            key=lambda pair: self._place[pair[0]],
        )[: self._rules.most_compared]
        if len(pairs) == 1:
            ((x, y),) = pairs
            self._orders.append(LinearLe(((1, x), (-1, y)), 0))
        elif pairs:
            xs, ys = tuple(x for x, _ in pairs), tuple(y for _, y in pairs)
            self._orders.append(LinearLe(((1, xs[0]), (-1, ys[0])), 0))
            self._orders.append(Lexicographic(TRUE, xs, ys, False))

    def _order_values(self, group: int, value: int, greater: int) -> None:
        """A variable takes the greater value only if one before it takes the other."""
        members = sorted(self._structure.groups[group], key=self._place.__getitem__)
        if self._made + 2 * len(members) > self._rules.most_literals_of_names:
            return
        seen = self._seen_before(group, members, value)
        for i, v in enumerate(members):
            literal = self._equals(v, greater)
            if literal is not None:
                self._names.append(Clause((literal ^ 1, seen[i]) if i else (literal ^ 1,)))

    def _seen_before(self, group: int, members: Sequence[int], value: int) -> list[int]:
        """For each variable the literal that one before it takes a value; that of the first is false."""
        key = group, value
        if key not in self._seen:
            seen = [TRUE ^ 1]
            for v in members[:-1]:
                literal = self._equals(v, value)
                if literal is None:
                    seen.append(seen[-1])
                elif seen[-1] == TRUE ^ 1:
                    seen.append(literal)
                else:
                    before, now = seen[-1], self._literal()
                    self._names += [
                        Clause((now ^ 1, before, literal)),
                        Clause((now, before ^ 1)),
                        Clause((now, literal ^ 1)),
                    ]
                    seen.append(now)
            self._seen[key] = seen
        return self._seen[key]

    def _equals(self, v: int, value: int) -> int | None:
        """The literal of ``v == value``; None if it is false."""
        box = self._root.box
        lo, hi, step, own = box.lo[v], box.hi[v], box.step[v], box.values[v]
        if not lo <= value <= hi or (value - lo) % step or (own is not None and value not in own):
            return None
        if lo == 0 and hi == 1:
            return 2 * v + 1 - value
        literal = self._literals.get((v, value))
        if literal is None:
            literal = self._literals[v, value] = self._literal()
            self._names.append(LinearEqIf(literal, ((1, v),), value))
        return literal

    def _literal(self) -> int:
        self._lo.append(0)
        self._hi.append(1)
        self._made += 1
        return 2 * (len(self._lo) - 1)

    def result(self) -> SymmetryBroken:
        """The root with the constraints."""
        root, box, new = self._root, self._root.box, len(self._lo) - len(self._root.box.lo)
        if not self._orders and not self._names:
            return SymmetryBroken(root, root)
        wider = Box(self._lo, self._hi, [*box.step, *[1] * new], [*box.values, *[None] * new])
        ordered = (
            replace(root, propagators=[*root.propagators, *self._orders], settled=None)
            if self._orders
            else root
        )
        propagators = [*root.propagators, *self._orders, *self._names]
        return SymmetryBroken(replace(root, box=wider, propagators=propagators, settled=None), ordered)
