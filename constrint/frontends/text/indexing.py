"""Elements and parts of arrays and lists, by constant or variable indices: `x[i, j]`, `x[2, ..]`.

An index outside its set makes the element undefined, whether it is a constant or depends on variables.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, TypeAlias

from constrint.expr import BoolExpr, Comparison, Const, Element, IntExpr, linear
from constrint.expr.arithmetic.choices import element_of, inside
from constrint.frontends.constants import name_of, subtrees
from constrint.frontends.text.labels import check_index
from constrint.frontends.text.meanings import Array, Axis, Number, Value, kind_of
from constrint.frontends.text.refusals import unusable
from constrint.frontends.text.sequences import SequenceReader

if TYPE_CHECKING:
    from lark import Token, Tree

    Node: TypeAlias = Tree[Token]

LONGEST_MAP = 10_000
"""The longest span of an index set with gaps for which places are looked up in a table."""


class IndexReader(SequenceReader):
    """Reads what stands before `[…]`, and takes the part."""

    def indexed(self, tree: Node) -> Value:
        """An element, or the part of an array over some of its indices."""
        base, *subscripts = subtrees(tree)
        if base.data == "name" and self.found(name_of(base)) is None:
            element = self._element_by_name(name_of(base), subscripts)
            if element is not None:
                return element
        value, indices = self.value(base), [self.value(subscript) for subscript in subscripts]
        if len(indices) == 1 and isinstance(value, tuple) and isinstance(indices[0], IntExpr):
            return self._of_constants(base, value, indices[0])
        array = self.array_of(value)
        if array is None:
            raise self._no_array(base, value)
        if len(subscripts) > len(array.axes):
            message = f"{len(subscripts)} indices for {self._text(base)}, which has {len(array.axes)}"
            raise self.error(subscripts[len(array.axes)], message)
        index = indices[0]
        if base.data == "list" and len(indices) == len(array.axes) == 1 and isinstance(index, IntExpr):
            # All entries of a list that is written here must have values, whichever is taken.
            found: Value = element_of(array.entries, index) if array.entries else undefined()
            return found
        return self._part(array, subscripts, indices)

    def _of_constants(self, tree: Node, values: tuple[int, ...], index: IntExpr) -> IntExpr:
        if type(index) is Const and tree.data != "list" and 0 <= index.value < len(values):
            return Const(values[index.value])
        self.budget.elements(len(values), partial(self.where, tree))
        return Element(values, index) if values else undefined()

    def _text(self, tree: Node) -> str:
        return f"'{self.position(tree).text}'"

    def _no_array(self, tree: Node, value: Value) -> Exception:
        text = self.position(tree).text
        if isinstance(value, IntExpr):
            hint = "lists have elements: [3, 5, 7][k]; an array is declared by its index set: x[1..9] in 0..5"
            return self.error(tree, f"'{text}' is not a sequence", hint)
        hint = "inner lists of one length can be indexed: [[1, 2], [3, 4]][i, j]"
        return self.error(tree, f"'{text}' is {kind_of(value)} without elements", hint)

    def _element_by_name(self, name: str, subscripts: Sequence[Node]) -> IntExpr | None:
        """The variable named `x[1,2]`, where no array `x` is declared in the text."""
        if any(subscript.data in ("range", "braces") for subscript in subscripts):
            return None
        texts = []
        for subscript in subscripts:
            if subscript.data == "name" and self.found(name_of(subscript)) is None:
                texts.append(name_of(subscript))
                continue
            if not self._has_elements(name):
                return None
            texts.append(str(self.constant(subscript)))
        return self.element_name(f"{name}[{','.join(texts)}]")

    def _has_elements(self, name: str) -> bool:
        """Whether there may be variables of the model that are named as elements of this array."""
        return any(other.startswith(f"{name}[") for other in self.names)

    # ------------------------------------------------------------ parts

    def _part(self, array: Array, subscripts: Sequence[Node], indices: Sequence[Value]) -> Value:
        """The part of an array for some indices, ranges and sets, one for each of the first axes."""
        chosen: list[list[int]] = []  # places along each axis
        axes: list[Axis] = []
        variable: list[tuple[Axis, IntExpr]] = []
        for axis, subscript, index in zip(array.axes, subscripts, indices, strict=False):
            if isinstance(index, IntExpr) and axis.enumeration is not None:
                check_index(self, subscript, axis.enumeration.labels, index)
            if not isinstance(index, IntExpr):
                domain = self.domain_of(subscript, index)
                if domain is None:
                    raise unusable(self, subscript, index)
                self.budget.elements(len(axis), partial(self.where, subscript))
                chosen.append([place for place, member in enumerate(axis.members) if member in domain])
                axes.append(axis.part(chosen[-1]))
            elif (known := self.known(subscript, index)) is not None:
                place = axis.place(known)
                if place is None:
                    return self._outside(array, axes, subscripts)
                chosen.append([place])
            elif next(index.variables(), None) is None:  # undefined, as is 1 // 0
                return self._outside(array, axes, subscripts)
            else:
                variable.append((axis, index))
                chosen.append(list(range(len(axis))))
        rest = array.axes[len(subscripts) :]
        if variable and (rest or axes):
            message = "with a variable index, an array needs one index for every axis"
            raise self.error(subscripts[-1], message, "write a comprehension: [x[i, k] for i in 1..9]")
        entries = self._entries(array, chosen)
        if variable:
            return self._selected(entries, variable)
        return Array((*axes, *rest), entries) if axes or rest else entries[0]

    def _outside(self, array: Array, axes: list[Axis], subscripts: Sequence[Node]) -> Value:
        """The value of an index outside its set."""
        if not axes and len(subscripts) == len(array.axes):
            return undefined()
        message = f"there is no such part: the indices are {', '.join(map(str, array.axes))}"
        raise self.error(subscripts[0], message)

    def _entries(self, array: Array, chosen: Sequence[list[int]]) -> tuple[Number, ...]:
        """The elements at these places of the first axes, and all of the others."""
        strides = array.strides
        after = strides[len(chosen) - 1]
        if len(chosen) == len(array.axes) and all(len(places) == 1 for places in chosen):
            at = sum([places[0] * stride for places, stride in zip(chosen, strides, strict=True)])
            return (array.entries[at],)
        found: list[Number] = []
        for places in product(*chosen):
            at = sum([place * stride for place, stride in zip(places, strides, strict=False)])
            found += array.entries[at : at + after]
        self.budget.node(len(found), self.statement_place)
        return tuple(found)

    def _selected(self, entries: tuple[Number, ...], variable: list[tuple[Axis, IntExpr]]) -> Number:
        """The element of a list for indices that depend on variables."""
        if not entries:
            return undefined()
        terms, stride = [], len(entries)
        for axis, index in variable:
            stride //= len(axis)
            terms.append((stride, self._place(axis, index, len(variable) == 1)))
        found: Number = element_of(entries, linear(terms))
        if isinstance(found, IntExpr) and all(isinstance(entry, BoolExpr) for entry in entries):
            return Comparison("==", found, Const(1))
        return found

    def _place(self, axis: Axis, index: IntExpr, is_only: bool) -> IntExpr:
        """The place of an index along its axis; undefined outside, or outside the list for the only axis."""
        members = axis.members
        if isinstance(members, range) and members.step == 1:
            place = linear([(1, index)], -members.start)
        else:
            place = _looked_up(tuple(members), index)
        if is_only or not inside(place, len(members) - 1):
            return place
        return Element(tuple(range(len(members))), place)


def undefined() -> IntExpr:
    """A number without a value."""
    return Element((0,), Const(-1))


def _looked_up(members: tuple[int, ...], index: IntExpr) -> IntExpr:
    """The place of an index in a set with gaps; -1, or undefined, where it is no member."""
    lo, hi = min(members), max(members)
    if hi - lo < LONGEST_MAP:
        places = [-1] * (hi - lo + 1)
        for place, member in enumerate(members):
            places[member - lo] = place
        return Element(tuple(places), linear([(1, index)], -lo))
    found = [(place + 1, Comparison("==", index, Const(member))) for place, member in enumerate(members)]
    return linear(found, -1)
