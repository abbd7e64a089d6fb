"""Variables of an XCSP3 instance, and the short forms in which lists of them and of integers are written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from math import prod
from xml.etree.ElementTree import Element

from constrint.errors import ModelError
from constrint.expr import IntExpr
from constrint.expr.domain import Domain
from constrint.model import Model

_INDEX = re.compile(r"\[(\d*)(\.\.)?(\d*)\]")
_RANGE = re.compile(r"(-?\d+)\.\.(-?\d+)$")
_REPEATED = re.compile(r"(-?\d+)x(\d+)$")


def text_of(element: Element | None) -> str:
    """The text of an element; empty where there is none."""
    return "" if element is None or element.text is None else element.text.strip()


def integers(text: str) -> list[int]:
    """Integers with their short forms: `1..4` is 1 2 3 4, and `0x3` is 0 0 0."""
    found: list[int] = []
    for word in text.split():
        if match := _RANGE.match(word):
            found.extend(range(int(match[1]), int(match[2]) + 1))
        elif match := _REPEATED.match(word):
            found.extend([int(match[1])] * int(match[2]))
        else:
            found.append(integer(word))
    return found


def integer(word: str) -> int:
    """One integer."""
    try:
        return int(word)
    except ValueError:
        raise ModelError(f"'{word}' is no integer") from None


def domain_of(text: str) -> Domain:
    """A domain such as `0..9 15 20..22`."""
    words = text.split()
    if len(words) == 1 and (match := _RANGE.match(words[0])):
        return Domain.of_range(int(match[1]), int(match[2]))
    return Domain.of_values(integers(text))


class Variables:
    """The variables of an instance.

    Attributes:
        model: The model that they are declared in.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._domains: dict[str, Element] = {}

    def declare(self, element: Element) -> None:
        """Declare what a `var` or `array` element says."""
        name = element.get("id")
        if not name:
            raise ModelError(f"a {element.tag} needs an id")
        like = element.get("as")
        source = self._domains.get(like, element) if like else element
        if like and like not in self._domains:
            raise ModelError(f"'{name}' is declared as '{like}', which is not declared before it")
        self._domains[name] = source
        if element.tag == "var":
            self._variable(name, domain_of(text_of(source)))
        elif element.tag == "array":
            self._array(name, element, source)
        else:
            raise ModelError(f"<{element.tag}> among the variables is not supported")

    def _variable(self, name: str, domain: Domain) -> None:
        if domain.is_empty:
            raise ModelError(f"the domain of '{name}' is empty")
        if domain.values is not None or domain.step != 1:
            self.model.int_var(name, values=domain)
        else:
            self.model.int_var(name, domain.lo, domain.hi)

    def _array(self, name: str, element: Element, source: Element) -> None:
        shape = tuple(int(size) for size in re.findall(r"\[(\d+)\]", element.get("size") or ""))
        if not shape:
            raise ModelError(f"the array '{name}' needs a size such as [5] or [3][4]")
        self._shapes[name] = shape
        parts = source.findall("domain")
        general = None if parts else domain_of(text_of(source))
        domains: dict[str, Domain] = {}
        others: Domain | None = None
        for part in parts:
            domain, scope = domain_of(text_of(part)), part.get("for") or "others"
            if scope.strip() == "others":
                others = domain
            else:
                for word in scope.split():
                    word = name + word[word.index("[") :] if "[" in word else word
                    domains.update(dict.fromkeys(self.names(word), domain))
        for place in product(*map(range, shape)):
            one = name + "".join(f"[{i}]" for i in place)
            found = general or domains.get(one) or others
            if found is not None:  # a cell without a domain is no variable
                self._variable(one, found)

    # ------------------------------------------------------------ looking up

    def names(self, word: str) -> list[str]:
        """The names that `x`, `x[2]`, `x[]` or `x[1..3][]` stand for; undeclared cells are left out."""
        name, bracket, rest = word.partition("[")
        if not bracket:
            if name in self._shapes:
                word = name + "[]" * len(self._shapes[name])
                return self.names(word)
            return [name]
        shape = self._shapes.get(name)
        if shape is None:
            raise ModelError(f"no array is named '{name}'")
        indices = _INDEX.findall("[" + rest)
        if (
            len(indices) != len(shape)
            or "".join(f"[{low}{dots}{high}]" for low, dots, high in indices) != "[" + rest
        ):
            raise ModelError(f"'{word}' does not fit the array '{name}', which has {len(shape)} indices")
        ranges = []
        for (low, dots, high), size in zip(indices, shape, strict=True):
            if low == "":
                ranges.append(range(size))
            else:
                ranges.append(range(int(low), int(high if dots else low) + 1))
        return [name + "".join(f"[{i}]" for i in place) for place in product(*ranges)]

    def shape(self, word: str) -> tuple[int, ...]:
        """The lengths of the open indices of a word such as `x[][]`."""
        name = word.partition("[")[0]
        size = self._shapes.get(name)
        if size is None:
            raise ModelError(f"no array is named '{name}'")
        indices = _INDEX.findall(word) or [("", "", "")] * len(size)
        lengths = []
        for (low, dots, high), full in zip(indices, size, strict=True):
            if low == "":
                lengths.append(full)
            elif dots:
                lengths.append(int(high) - int(low) + 1)
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
            raise ModelError(f"no variable is named '{name}'")
        return found

    def is_one(self, word: str) -> bool:
        """Whether a word is the name of a variable, or several."""
        return word in self.model.variables or word.partition("[")[0] in self._shapes

    def rows(self, text: str) -> Iterator[list[str]]:
        """The rows of a matrix: `x[][]`, or lists in brackets."""
        text = text.strip()
        if text.startswith("("):
            for row in re.findall(r"\(([^()]*)\)", text):
                yield self.named(row.replace(",", " "))
            return
        names, shape = self.named(text), self.shape(text)
        if len(shape) != 2 or prod(shape) != len(names):
            raise ModelError(f"'{text}' is no matrix")
        for i in range(shape[0]):
            yield names[i * shape[1] : (i + 1) * shape[1]]
