"""Declarations of the text language: variables, arrays, definitions, functions and enumerations."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from constrint.expr import Const, IntExpr
from constrint.expr.domain import Domain, EnumDomain
from constrint.expr.position import Span
from constrint.frontends.constants import as_tree, name_of, subtrees
from constrint.frontends.text.calls import AGGREGATES, CALLED
from constrint.frontends.text.expressions import ExpressionReader
from constrint.frontends.text.global_calls import NAMES
from constrint.frontends.text.meanings import (
    Array,
    Axis,
    EnumerationType,
    Items,
    Number,
    Template,
    Value,
    is_number,
    kind_of,
    names_of_elements,
)
from constrint.modelling.declarations import Declarations

if TYPE_CHECKING:
    from lark import Token, Tree

    Node: TypeAlias = Tree[Token]

Head: TypeAlias = "list[tuple[str | None, Axis]]"
"""The index sets of an array, each with the name that stands for its indices, if there is one."""


class DeclaringReader(ExpressionReader):
    """Declares what statements name.

    Attributes:
        model: The model.
        places: Where each name is declared.
        enumerations: The enumerations, in order.
    """

    model: Declarations
    places: dict[str, Span]
    enumerations: list[EnumerationType]

    # ------------------------------------------------------------ variables

    def declare(self, target: Node, domain: Callable[[], Domain] | None) -> None:
        """Declare a variable or an array of them; conditions where there is no domain."""
        if target.data == "index":
            self._declare_array(target, domain)
            return
        self.new_name(target)
        self.budget.variable(1, partial(self.where, target))
        self.names[name_of(target)] = self._variable(target, name_of(target), domain and domain())

    def _variable(self, tree: Node, name: str, domain: Domain | None) -> IntExpr:
        if name in self.model.variables or name in self.model.lets:
            raise self.error(tree, f"'{name}' is declared already", "choose another name for the array")
        variable = self.model.bool_var(name) if domain is None else self.model.variable(name, domain)
        return variable.at(self.span(tree))

    def _declare_array(self, target: Node, domain: Callable[[], Domain] | None) -> None:
        name, head = self._array_name(target), self._head(target)
        axes = tuple([axis for _, axis in head])
        size = self._size(target, axes)
        self.budget.variable(size, partial(self.where, target))
        names = names_of_elements(name, axes)
        found: list[IntExpr] = []
        if any(local for local, _ in head):
            self._each(head, lambda: found.append(self._variable(target, next(names), domain and domain())))
        else:
            every = domain and domain()
            found = [self._variable(target, element, every) for element in names]
        self.names[name] = Array(axes, tuple(found))

    def new_name(self, tree: Node) -> None:
        """Note where a name is declared; refuse one that has a meaning already."""
        name = name_of(tree)
        if name in self.names:
            hint = "a second domain for a variable is a constraint of its own: x in {…}"
            raise self.error(tree, f"'{name}' is declared already", hint)
        self.places[name] = self.span(tree)

    def _array_name(self, target: Node) -> str:
        name = as_tree(target.children[0])
        if name.data != "name":
            raise self.error(name, "an array is declared with all of its index sets: x[1..3, 1..3]")
        self.new_name(name)
        return name_of(name)

    # ------------------------------------------------------------ index sets

    def _head(self, target: Node) -> Head:
        """The index sets in the brackets of a declaration."""
        found: Head = []
        for subscript in subtrees(target)[1:]:
            local = None
            members = subscript
            if is_binding(subscript):
                local = name_of(as_tree(subscript.children[0]))
                members = as_tree(subscript.children[2])
            found.append((local, self._axis(members)))
        self.budget.depth(len(found), partial(self.where, target))
        locals_ = [local for local, _ in found if local is not None]
        if len(set(locals_)) < len(locals_):
            raise self.error(target, "each index needs a name of its own")
        return found

    def _axis(self, tree: Node) -> Axis:
        """The index set that a tree stands for."""
        value = self.value(tree)
        if isinstance(value, EnumerationType):
            return Axis(range(len(value)), value.labels, value)
        domain = None if isinstance(value, IntExpr) else self.domain_of(tree, value)
        if domain is None:
            text = self.position(tree).text
            what = kind_of(value)
            raise self.error(
                tree, f"'{text}' is {what}, not an index set", f"write such as 0..{text} or 1..{text}"
            )
        if not domain.is_finite:
            raise self.error(tree, "an index set needs both bounds", "write such as 1..9")
        if (domain.size or 0) > sys.maxsize:
            raise self.error(tree, "this index set is too long for an array")
        if isinstance(domain, EnumDomain):
            known = [one for one in self.enumerations if one.labels == domain.labels]
            found = known[0] if known else EnumerationType("", domain.labels)
            return Axis(tuple(domain), tuple([domain.labels[number] for number in domain]), found)
        if domain.values is not None or domain.lo is None or domain.hi is None:
            return Axis(domain.values or ())
        return Axis(range(domain.lo, domain.hi + 1, domain.step))

    def _size(self, target: Node, axes: Sequence[Axis]) -> int:
        return math.prod([len(axis) for axis in axes])

    def _each(self, head: Head, visit: Callable[[], None]) -> None:
        """Visit all indices in row-major order, with their names standing for them."""
        before = self.locals
        self.locals = dict(before)
        try:
            self._each_from(head, visit)
        finally:
            self.locals = before

    def _each_from(self, head: Head, visit: Callable[[], None]) -> None:
        if not head:
            visit()
            return
        (local, axis), *others = head
        for index in axis.constants():
            self.budget.count_steps()
            if local is not None:
                self.locals[local] = index
            self._each_from(others, visit)

    # ------------------------------------------------------------ definitions

    def define(self, tree: Node) -> None:
        """Define a name: `name := …`."""
        name, value = as_tree(tree.children[0]), as_tree(tree.children[1])
        self.new_name(name)
        found = self.noted(name, self.value(value))
        if is_number(found):
            found = self.model.let(name_of(name), found)
        self.names[name_of(name)] = found

    def define_array(self, tree: Node) -> None:
        """Define an array: `name[i in 1..9] := …`, or `name[1..9] := […]`."""
        target, body = as_tree(tree.children[0]), as_tree(tree.children[1])
        name, head = self._array_name(target), self._head(target)
        axes = tuple([axis for _, axis in head])
        size = self._size(target, axes)
        self.budget.values(size, partial(self.where, target))
        bound = [local for local, _ in head if local is not None]
        if bound and len(bound) < len(head):
            raise self.error(target, "either every index has a name or none", f"write {name}[i in …, j in …]")
        if not bound:
            found = self.fitted(body, name, axes, self.value(body))
        else:
            entries: list[Number] = []
            self._each(head, lambda: entries.append(self.operand(body)))
            found = Array(axes, tuple(entries))
        self.noted(target, found)
        if not all(map(_is_constant, found.entries)):
            names = names_of_elements(name, axes)
            found = Array(
                axes, tuple([self._element(target, *each) for each in zip(names, found.entries, strict=True)])
            )
        self.names[name] = found

    def _element(self, target: Node, name: str, entry: Number) -> Number:
        if name in self.model.variables or name in self.model.lets:
            raise self.error(target, f"'{name}' is declared already", "choose another name for the array")
        return self.model.let(name, entry)

    def fitted(self, tree: Node, name: str, axes: tuple[Axis, ...], value: Value) -> Array:
        """A list of (lists of) values as an array over index sets."""
        array = self.array_of(value) if isinstance(value, tuple | Items | Array) else None
        wanted = [len(axis) for axis in axes]
        given = [] if array is None else [len(axis) for axis in array.axes]
        if array is None or given != wanted:
            shape = " × ".join(map(str, wanted))
            got = " × ".join(map(str, given)) if given else kind_of(value)
            raise self.error(tree, f"{name} needs {shape} values, not {got}")
        return Array(axes, array.entries)

    def define_template(self, tree: Node) -> None:
        """Define a function: `name(a, b) := …`."""
        call, body = as_tree(tree.children[0]), as_tree(tree.children[1])
        name, *parameters = subtrees(call)
        word = name_of(name)
        if word in AGGREGATES or word in CALLED or word in NAMES:
            raise self.error(name, f"'{word}' is a function of the language", "choose another name")
        self.new_name(name)
        for parameter in parameters:
            if parameter.data != "name":
                raise self.error(parameter, "a parameter is a name", f"write {word}(a, b) := …")
        names = [name_of(parameter) for parameter in parameters]
        if len(set(names)) < len(names):
            raise self.error(call, "each parameter needs a name of its own")
        self.check_names(body, set(names))
        self.check_calls(body, word)
        self.names[word] = Template(word, tuple(names), body, self.source)

    def check_calls(self, tree: Node, name: str) -> None:
        """Refuse calls of functions that are not defined yet, such as the one that is being defined."""
        for call in tree.iter_subtrees():
            if call.data != "call":
                continue
            called = as_tree(call.children[0])
            word = name_of(called)
            if word == name:
                hint = "functions are not recursive: write a comprehension, such as sum(… for i in 1..n)"
                raise self.error(called, f"'{name}' calls itself", hint)
            if not (word in AGGREGATES or word in CALLED or word in NAMES or word in self.names):
                raise self.no_function(called)

    # ------------------------------------------------------------ enumerations

    def enumerate(self, name: Node, labels: Sequence[tuple[str, Node]]) -> None:
        """Declare an enumeration and its members."""
        self.new_name(name)
        self.budget.values(len(labels), partial(self.where, name))
        found = EnumerationType(name_of(name), tuple([label for label, _ in labels]))
        for member, (label, place) in zip(found.members, labels, strict=True):
            if label in self.names:
                raise self.error(place, f"'{label}' is declared already", "members of enumerations are names")
            self.names[label] = member
            self.places[label] = self.span(place)
        self.names[name_of(name)] = found
        self.enumerations.append(found)

    def written_labels(self, braces: Node) -> Iterator[tuple[str, Node]]:
        """The members of an enumeration in braces."""
        if self.inner_token(braces) is not None:
            raise self.error(braces, "a member of an enumeration is a name", "write {red, green, blue}")
        for item in subtrees(braces):
            if item.data != "name":
                raise self.error(item, "a member of an enumeration is a name", "write {red, green, blue}")
            yield name_of(item), item


def _is_constant(entry: Number) -> bool:
    return isinstance(entry if isinstance(entry, IntExpr) else entry.numerator, Const)


def is_binding(tree: Node) -> bool:
    """Whether a subscript is `i in 1..9`."""
    return is_membership(tree) and as_tree(tree.children[0]).data == "name"


def is_membership(tree: Node) -> bool:
    """Whether a tree is a single `… in …`."""
    return tree.data == "chain" and len(tree.children) == 3 and getattr(tree.children[1], "type", "") == "IN"
