"""Variables of an XCSP3 instance, and the short forms of lists of variables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from math import prod
from xml.etree.ElementTree import Element

from constrint.errors import ModelError
from constrint.expr import IntExpr
from constrint.expr.domain import Domain
from constrint.frontends.xcsp3.accepted import refuse_attributes
from constrint.frontends.xcsp3.numbers import domain_of, groups, integer, shown
from constrint.modelling.declarations import Declarations
from constrint.support.limits import Budget, exceeded

_INDEX = re.compile(r"\[([0-9]*)(\.\.)?([0-9]*)\]")
_SIZE = re.compile(r"\s*\[\s*([0-9]+)\s*\]\s*")


def text_of(element: Element | None) -> str:
    """The text of an element; empty if there is none."""
    return "" if element is None or element.text is None else element.text.strip()


class XcspVariables:
    """The variables of an instance.

    Attributes:
        model: The model in which they are declared.
        budget: The limits of reading.
    """

    def __init__(self, model: Declarations, budget: Budget) -> None:
        self.model = model
        self.budget = budget
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._domains: dict[str, Element] = {}

    def declare(self, element: Element) -> None:
        """Declare the variables of a `var` or `array` element."""
        name = element.get("id")
        if not name:
            raise ModelError(f"a {element.tag} needs an id")
        if element.tag in ("var", "array"):
            refuse_attributes(element)
        kind = element.get("type", "integer")
        if kind != "integer":
            raise ModelError(f"variables of type '{shown(kind)}' are not supported: only integer ones are")
        if element.get("startIndex", "0").strip() != "0":
            raise ModelError("the indices of an array begin with 0: a startIndex is not supported")
        like = element.get("as")
        source = self._domains.get(like, element) if like else element
        if like and like not in self._domains:
            raise ModelError(f"'{shown(name)}' is as '{shown(like)}', which is not declared before it")
        self._domains[name] = source
        if element.tag == "var":
            self._variable(name, domain_of(text_of(source), self.budget))
        elif element.tag == "array":
            self._array(name, element, source)
        else:
            raise ModelError(f"<{element.tag}> among the variables is not supported")

    def _variable(self, name: str, domain: Domain) -> None:
        if domain.is_empty:
            raise ModelError(f"the domain of '{shown(name)}' is empty")
        self.budget.variable()
        self.model.variable(name, domain)  # cells of an array share their domain

    def _array(self, name: str, element: Element, source: Element) -> None:
        shape = self._size(name, element.get("size") or "")
        self._shapes[name] = shape
        parts = source.findall("domain")
        general = None if parts else domain_of(text_of(source), self.budget)
        domains: dict[str, Domain] = {}
        others: Domain | None = None
        for part in parts:
            domain, scope = domain_of(text_of(part), self.budget), part.get("for") or "others"
            if scope.strip() == "others":
                others = domain
            else:
                for word in scope.split():
                    word = name + word[word.index("[") :] if "[" in word else word
                    domains.update(dict.fromkeys(self.names(word), domain))
        for place in product(*map(range, shape)):
            one = name + "".join([f"[{i}]" for i in place])
            self.budget.count_steps()
            found = general or domains.get(one) or others
            if found is not None:  # a cell without a domain is not a variable
                self._variable(one, found)

    def _size(self, name: str, text: str) -> tuple[int, ...]:
        """The lengths of an array; its cells are counted before any is made."""
        lengths = _SIZE.findall(text)
        if not lengths or _SIZE.sub("", text):
            raise ModelError(
                f"the array '{shown(name)}' needs a size such as [5] or [3][4], not '{shown(text)}'"
            )
        self.budget.depth(len(lengths))
        shape = tuple([integer(length, self.budget) for length in lengths])
        self._count(prod(shape))
        return shape

    def _count(self, cells: int) -> None:
        """Refuse a name for more cells than the limit of variables."""
        limit = self.budget.limits.variables
        if limit is not None and cells > limit:
            raise exceeded("variables", limit)

    # ------------------------------------------------------------ looking up

    def names(self, word: str) -> list[str]:
        """The names for `x`, `x[2]`, `x[]` or `x[1..3][]`; undeclared cells are left out."""
        name, bracket, rest = word.partition("[")
        if not bracket:
            if name in self._shapes:
                word = name + "[]" * len(self._shapes[name])
                return self.names(word)
            self.budget.node()
            return [name]
        shape = self._shapes.get(name)
        if shape is None:
            raise ModelError(f"no array is named '{shown(name)}'")
        indices = _INDEX.findall("[" + rest)
        if (
            len(indices) != len(shape)
            or "".join(f"[{low}{dots}{high}]" for low, dots, high in indices) != "[" + rest
        ):
            raise ModelError(
                f"'{shown(word)}' does not fit the array '{shown(name)}', which has {len(shape)} indices"
            )
        ranges = [self._range(index, size) for index, size in zip(indices, shape, strict=True)]
        cells = prod([max(0, one.stop - one.start) for one in ranges])
        self._count(cells)
        self.budget.node(cells)
        return [name + "".join([f"[{i}]" for i in place]) for place in product(*ranges)]

    def _range(self, index: tuple[str, str, str], size: int) -> range:
        """The numbers for an index such as `2`, `1..3`, or an empty one."""
        low, dots, high = index
        if low == "" and not dots and not high:
            return range(size)
        if low == "" or (dots and high == ""):
            raise ModelError(f"'[{low}{dots}{high}]' is not an index: write such as [2], [1..3] or []")
        first = integer(low, self.budget)
        return range(first, (integer(high, self.budget) if dots else first) + 1)

    def shape(self, word: str) -> tuple[int, ...]:
        """The lengths of the open indices of a word such as `x[][]`."""
        name = word.partition("[")[0]
        size = self._shapes.get(name)
        if size is None:
            raise ModelError(f"no array is named '{shown(name)}'")
        indices = _INDEX.findall(word) or [("", "", "")] * len(size)
        lengths = []
        for (low, dots, high), full in zip(indices, size, strict=True):
            if low == "":
                lengths.append(full)
            elif dots:
                lengths.append(len(self._range((low, dots, high), full)))
        return tuple(lengths)

    def named(self, text: str) -> list[str]:
        """The names in a list of words."""
        return [name for word in text.split() for name in self.names(word) if self._exists(name, word)]

    def _exists(self, name: str, word: str) -> bool:
        return name in self.model.variables or word == name

    def variable(self, name: str) -> IntExpr:
        """A variable by its name."""
        found = self.model.variables.get(name)
        if found is None:
            raise ModelError(f"no variable is named '{shown(name)}'")
        return found

    def is_one(self, word: str) -> bool:
        """Whether a word is the name of a variable, or of several."""
        return word in self.model.variables or word.partition("[")[0] in self._shapes

    def rows(self, text: str) -> Iterator[list[str]]:
        """The rows of a matrix: `x[][]`, or lists in brackets."""
        text = text.strip()
        if text.startswith("("):
            for row in groups(text, "matrix", self.budget):
                yield self.named(" ".join(row))
            return
        names, shape = self.named(text), self.shape(text)
        if len(shape) != 2 or prod(shape) != len(names):
            raise ModelError(f"'{shown(text)}' is not a matrix")
        for i in range(shape[0]):
            yield names[i * shape[1] : (i + 1) * shape[1]]
