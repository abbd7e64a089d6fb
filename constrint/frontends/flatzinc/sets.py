"""FlatZinc's sets: a set variable has one truth value for each element of its upper bound.

MiniZinc declares some introduced variables as `var set of int`; their upper bounds follow from constraints.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Protocol

from constrint.expr import BoolConst, BoolExpr
from constrint.expr.domain import Domain
from constrint.frontends.flatzinc.items import Declaration, Document, Item, Name, Value, shortened
from constrint.modelling.declarations import Declarations
from constrint.modelling.symbols import SetExpr

Elements = frozenset[int]


class Lookup(Protocol):
    """Looks values up.

    Attributes:
        document: The text as data.
        model: The model under construction.
    """

    document: Document
    model: Declarations

    def resolved(self, value: Value, line: int) -> Value:
        """The value for the name of a constant or of an entry; any other value as it is."""

    def entries(self, value: Value, line: int) -> list[Value]:
        """The entries of an array."""


class Sets:
    """The sets of a document."""

    def __init__(self, builder: Lookup) -> None:
        self._builder = builder
        self._document = builder.document
        self._known: dict[str, SetExpr] = {}
        self._active: set[str] = set()
        self._found: dict[str, Elements] | None = None

    def read(self, value: Value, line: int) -> SetExpr:
        """A set: a constant, or a variable."""
        found = self._builder.resolved(value, line)
        if isinstance(found, Domain):
            return SetExpr({one: BoolConst(True) for one in self._listed(found, line)})
        if not isinstance(found, Name) or not self._is_set(found):
            raise self._document.expected(line, "a set of integers", value)
        known = self._known.get(found.name)
        if known is None:
            declaration = self._document.declarations[found.name]
            known = self._known[found.name] = self._declared(declaration)
        return known

    def bounded(self, found: SetExpr, domain: Domain) -> Iterable[BoolExpr]:
        """The conditions that a set has no elements outside of a declared upper bound."""
        if domain.lo is None and domain.hi is None and not domain.is_empty:
            return []
        return [~inside for one, inside in found.members.items() if one not in domain]

    def _is_set(self, name: Name) -> bool:
        declaration = self._document.declarations.get(name.name)
        return declaration is not None and declaration.is_set and not declaration.is_array

    def _declared(self, declaration: Declaration) -> SetExpr:
        line, name, domain = declaration.line, declaration.name, declaration.domain
        assert domain is not None
        if declaration.value is not None:
            if name in self._active:
                raise self._document.error(line, f"'{shortened(name)}' is declared equal to itself")
            self._active.add(name)
            self._document.budget.depth(len(self._active), self._document.place(line))
            found = self.read(declaration.value, line)
            self._active.discard(name)
            for condition in self.bounded(found, domain):
                self._builder.model.add(condition, name=f"line {line}: {name}")
            return found
        if domain.is_finite:
            members = self._listed(domain, line)
        else:
            bound = self._upper_bounds().get(name)
            if bound is None:
                message = (
                    f"the set '{shortened(name)}' has no upper bound: declare it such as 'var set of 1..9'"
                )
                raise self._document.error(line, message)
            members = sorted(bound)
        self._document.budget.variable(len(members), self._document.place(line))
        return self._builder.model.set_var(name, members)

    def _listed(self, domain: Domain, line: int) -> list[int]:
        self._document.budget.values(domain.size or 0, self._document.place(line))
        return list(domain)

    # ------------------------------------------------------------ upper bounds

    def _upper_bounds(self) -> dict[str, Elements]:
        """Upper bounds of set variables that are declared without one, from the constraints on them."""
        if self._found is not None:
            return self._found
        self._found = {}
        users: dict[str, list[Item]] = {}
        for item in self._document.constraints:
            if item.name in _BOUNDING:
                for name in self._names(item):
                    users.setdefault(name, []).append(item)
        waiting = deque(one for one in self._document.constraints if one.name in _BOUNDING)
        while waiting:
            item = waiting.popleft()
            for name in self._bounds_by(item):
                waiting.extend(users[name])
        return self._found

    def _names(self, item: Item) -> set[str]:
        values = [x for arg in item.args for x in (arg if isinstance(arg, list) else [arg])]
        for arg in item.args:
            if isinstance(arg, Name):
                declaration = self._document.declarations.get(arg.name)
                if declaration is not None and declaration.is_array:
                    values += self._builder.entries(arg, item.line)
        return {one.name for one in values if isinstance(one, Name)}

    def _bounds_by(self, item: Item) -> list[str]:
        """Bound the variables of a constraint; returns the names that have a bound now and had none."""
        new = []
        for target, sources, join in _BOUNDING[item.name]:
            found = self._builder.resolved(item.args[target], item.line) if target < len(item.args) else None
            if not isinstance(found, Name) or not self._is_set(found) or self._has_bound(found):
                continue
            values = [one for source in sources for one in self._sources(item, source)]
            bounds = [self._bound(one, item.line) for one in values]
            known = [one for one in bounds if one is not None]
            if known and (join is _ANY or len(known) == len(bounds)):
                assert self._found is not None
                self._found[found.name] = join(*known)
                new.append(found.name)
        return new

    def _sources(self, item: Item, place: int) -> list[Value]:
        value = item.args[place]
        is_list = item.name in ("array_set_element", "array_var_set_element")
        return self._builder.entries(value, item.line) if is_list else [value]

    def _has_bound(self, name: Name) -> bool:
        declaration = self._document.declarations[name.name]
        assert declaration.domain is not None
        assert self._found is not None
        return declaration.domain.is_finite or declaration.value is not None or name.name in self._found

    def _bound(self, value: Value, line: int) -> Elements | None:
        found = self._builder.resolved(value, line)
        if isinstance(found, Domain):
            return frozenset(self._listed(found, line))
        if not isinstance(found, Name) or not self._is_set(found):
            raise self._document.expected(line, "a set of integers", value)
        declaration = self._document.declarations[found.name]
        assert declaration.domain is not None
        if declaration.domain.is_finite:
            return frozenset(self._listed(declaration.domain, line))
        assert self._found is not None
        return self._found.get(found.name)


_ANY: Callable[..., Elements] = frozenset.intersection
_ALL: Callable[..., Elements] = frozenset.union
# By constraint: the argument that is bounded, the arguments that bound it, and how.
_BOUNDING: dict[str, list[tuple[int, tuple[int, ...], Callable[..., Elements]]]] = {
    "set_subset": [(0, (1,), _ANY)],
    "set_superset": [(1, (0,), _ANY)],
    "set_eq": [(0, (1,), _ANY), (1, (0,), _ANY)],
    "set_intersect": [(2, (0, 1), _ANY)],
    "set_union": [(2, (0, 1), _ALL), (0, (2,), _ANY), (1, (2,), _ANY)],
    "set_diff": [(2, (0,), _ANY), (0, (1, 2), _ALL)],
    "set_symdiff": [(2, (0, 1), _ALL), (0, (1, 2), _ALL), (1, (0, 2), _ALL)],
    "array_set_element": [(2, (1,), _ALL)],
    "array_var_set_element": [(2, (1,), _ALL)],
}


def set_text(members: Iterable[int]) -> str:
    """A set as MiniZinc prints it: a range, or its elements in order."""
    listed = sorted(members)
    if not listed:
        return "{}"
    if listed[-1] - listed[0] == len(listed) - 1:
        return f"{listed[0]}..{listed[-1]}"
    return f"{{{','.join(map(str, listed))}}}"
