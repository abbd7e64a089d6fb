"""Symmetries of a problem: exchanges of variables and of names of values that keep its constraints.

Colour refinement (Weisfeiler and Leman 1968) tells apart what no symmetry exchanges. Of two vertices of one
colour, an exchange is tried: each constraint that it would change names a constraint that must stand for it,
and what differs between the two is exchanged as well. An exchange counts only if in the end the image of each
constraint that it concerns is a constraint. Work is counted in items of constraints.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import pairwise

from constrint.presolve.structure import ColouredStructure, Item, key_of
from constrint.settings import DEFAULT, PresolveSettings
from constrint.support.deadline import check_deadline

MODULUS = (1 << 61) - 1

Exchange = dict[int, int]


class Symmetries:
    """Exchanges found in a structure.

    Attributes:
        found: The exchanges: for each vertex that moves the vertex in whose place it comes.
    """

    def __init__(self, structure: ColouredStructure, rules: PresolveSettings = DEFAULT.presolve) -> None:
        self._structure = structure
        self._rules = rules
        self._keys = {key_of(fact) for fact in structure.facts}
        self._tags: dict[Hashable, int] = {}
        self._colour = self._refined()
        self._left = rules.work_of_exchanges
        self.found: list[Exchange] = []
        self._known: set[tuple[int, int]] = set()
        self._orbit = {v: v for v in self._colour}
        self._search()

    # Colours

    def _refined(self) -> dict[int, int]:
        """Colours that symmetric vertices have in common."""
        structure = self._structure
        number = self._tags.setdefault
        colour = {v: number(start, len(self._tags)) for v, start in structure.start.items()}
        tagged = [
            (
                number(kind, len(self._tags)),
                [(number(tag, len(self._tags)), vertices) for tag, vertices in items],
            )
            for kind, items in structure.facts
        ]
        count = len(set(colour.values()))
        for _ in range(self._rules.refinements):
            check_deadline()
            sums = dict.fromkeys(colour, 0)
            for kind, items in tagged:
                of_items = [hash((tag, *[colour[v] for v in vertices])) for tag, vertices in items]
                of_fact = hash((kind, sum(of_items)))
                for (_, vertices), own in zip(items, of_items, strict=True):
                    for place, v in enumerate(vertices):
                        sums[v] += hash((of_fact, own, place))
            colour = {v: hash((colour[v], total % MODULUS)) for v, total in sums.items()}
            now = len(set(colour.values()))
            if now == count:
                break
            count = now
        return colour

    # Exchanges

    def _search(self) -> None:
        """Exchange neighbours of one colour; then the least of neighbouring orbits."""
        classes: dict[int, list[int]] = {}
        for v in sorted(self._colour):
            classes.setdefault(self._colour[v], []).append(v)
        # Names of values first, and what moves least before what moves most.
        wanted = sorted(
            (members for members in classes.values() if len(members) > 1),
            key=lambda members: (members[0] not in self._structure.values, members[0]),
        )
        most = self._rules.most_exchanges
        for _ in range(self._rules.passes):
            before = len(self.found)
            for members in wanted:
                for u, w in self._neighbours(members):
                    if self._left < 0 or len(self.found) >= most:
                        return
                    self._try(u, w)
            if len(self.found) == before:
                return

    def _neighbours(self, members: Sequence[int]) -> Iterator[tuple[int, int]]:
        least: dict[int, int] = {}
        for v in members:
            least.setdefault(self._top(v), v)
        ordered = sorted(least.values())
        yield from pairwise(ordered)

    def _top(self, v: int) -> int:
        orbit = self._orbit
        while orbit[v] != v:
            orbit[v] = orbit[orbit[v]]
            v = orbit[v]
        return v

    def _try(self, u: int, w: int) -> None:
        if (u, w) in self._known:
            return
        self._known.add((u, w))
        exchange = self._exchange(u, w)
        if exchange is not None:
            self.found.append(exchange)
            self._left += self._rules.work_for_exchange
            for v, image in exchange.items():
                self._known.add((v, image))
                first, second = sorted((self._top(v), self._top(image)))
                self._orbit[second] = first

    def _exchange(self, u: int, w: int) -> Exchange | None:
        """The exchange of two vertices and of what follows from that; None if none is found."""
        check_deadline()
        structure = self._structure
        moved: Exchange = {u: w, w: u}
        queue, done = [u, w], 0
        touched: dict[int, None] = {}
        before = self._left
        while True:
            changed = self._changed(queue, done, moved, touched)
            if changed is None:
                break
            done, number, v = changed
            added = self._matched(number, structure.at[moved[v]], moved)
            if not added or before - self._left > self._rules.work_of_exchange:
                return None
            queue += added
        start = structure.start
        if any(start[v] != start[image] for v, image in moved.items()):
            return None  # two colours with one hash
        return moved

    def _changed(
        self, queue: Sequence[int], done: int, moved: Exchange, touched: dict[int, None]
    ) -> tuple[int, int, int] | None:
        """A fact whose image is none, after the facts of the first vertices; short ones first; None for none.

        Returns how many vertices are done, the fact, and a vertex in it that moves.
        """
        structure, short = self._structure, self._rules.short_fact
        for place in range(done, len(queue)):
            v = queue[place]
            for number in structure.at[v]:
                touched[number] = None
                if len(structure.facts[number][1]) <= short and self._is_changed(number, moved):
                    return place, number, v
        for number in touched:  # all: what was exchanged since may change the image of a fact
            if self._is_changed(number, moved):
                _, items = structure.facts[number]
                return len(queue), number, next(v for _, vs in items for v in vs if v in moved)
        return None

    def _is_changed(self, number: int, moved: Exchange) -> bool:
        fact = self._structure.facts[number]
        self._left -= len(fact[1])
        return key_of(fact, moved) not in self._keys

    def _matched(self, number: int, candidates: Sequence[int], moved: Exchange) -> list[int] | None:
        """Exchange what differs between the image of a fact and the candidate with most in common."""
        facts = self._structure.facts
        kind, items = facts[number]
        image = [(tag, tuple([moved.get(v, v) for v in vertices])) for tag, vertices in items]
        own = set(image)
        alike = []
        for other in candidates:
            if other != number and facts[other][0] == kind and len(facts[other][1]) == len(items):
                alike.append((-sum([item in own for item in facts[other][1]]), other))
                self._left -= len(items)
        # One whose own image is no constraint either; others stand for another constraint already.
        alike.sort()
        best = next((facts[other][1] for _, other in alike if self._is_changed(other, moved)), None)
        if best is None:
            return None
        there = set(best)
        left = sorted((item for item in image if item not in there), key=self._place)
        right = sorted((item for item in best if item not in own), key=self._place)
        if len(left) != len(right):
            return None
        added: list[int] = []
        for (tag, from_), (other_tag, to) in zip(left, right, strict=True):
            if tag != other_tag or len(from_) != len(to):
                return None
            for a, b in zip(from_, to, strict=True):
                if a == b or moved.get(a) == b:
                    continue
                if a in moved or b in moved or self._colour[a] != self._colour[b]:
                    return None
                moved[a], moved[b] = b, a
                added += [a, b]
        return added

    def _place(self, item: Item) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
        """Items in the order of tags, colours and numbers."""
        tag, vertices = item
        return self._tags[tag], tuple([self._colour[v] for v in vertices]), vertices
