"""Parameters of a text: `param n`, `param cost[items] in 0..99`, and the values that they are given."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import partial
from operator import index
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from constrint.errors import ModelError, ParseError, shown
from constrint.expr import BoolConst, Const, IntExpr
from constrint.expr.written import KEYWORDS
from constrint.frontends.constants import as_tree, name_of, nearest, subtrees
from constrint.frontends.text.declaring import DeclaringReader
from constrint.frontends.text.meanings import Array, Axis, Items, Number, Value, is_number

if TYPE_CHECKING:
    from lark import Token, Tree

    from constrint.expr.rational import Rational

    Node: TypeAlias = Tree[Token]

Given: TypeAlias = Union[
    int, float, Fraction, Decimal, "Rational", str, Sequence["Given"], Mapping[str, "Given"]
]
"""A value from outside: a number, a member of an enumeration, lists of them, or a mapping from indices."""
_WORD = re.compile(r"\w+")
_COMMENT = re.compile(r"#[^\r\n]*")


class GivenNames:
    """The values that names are given from outside.

    Attributes:
        values: The values by name.
        origins: Where each comes from, such as ``data.json``. Names without an origin are constants, which
            the text may use without `param`.
        direct: The names of files whose values come from the caller instead.
        groups: For a column of a table, the other names that the same file gives: one of them must be used.
        words: The words of the texts that may use the constants.
    """

    def __init__(self, values: Mapping[str, Given] | None = None) -> None:
        self.values: dict[str, Given] = dict(values or {})
        self.origins: dict[str, str] = {}
        self.direct: set[str] = set()
        self.groups: dict[str, frozenset[str]] = {}
        self.words: set[str] = set()

    def note(self, text: str) -> None:
        """Note the words of a text, if there are constants that it may use."""
        if len(self.values) > len(self.origins):
            self.words.update(_WORD.findall(_COMMENT.sub("", text)))

    def check_constants(self, declared: Collection[str] = ()) -> None:
        """Raise `ModelError` for a constant that no text uses; names that the text declares come first."""
        for name, value in self.values.items():
            if name in self.origins or name in declared:
                continue
            if not _is_plain(value):
                message = f"constant '{name}' must be a number or a sequence of numbers, not {value!r}"
                raise ModelError(f"{message}; other values need a declaration: param {name}")
            if name not in self.words:
                near = nearest(name, sorted(declared))
                near = near or nearest(name, sorted(self.words - self.values.keys() - KEYWORDS))
                hint = f"did you mean '{near[0]}'?" if near else "remove it, or use it in the model"
                raise ModelError(f"the model has no parameter '{shown(name, 60)}'\nhint: {hint}")

    def constants(self) -> dict[str, Value]:
        """The constants, which have their meaning without `param`; raises `ModelError` for what is none."""
        plain = {name: value for name, value in self.values.items() if name not in self.origins}
        return {name: _plain(name, value) for name, value in plain.items() if _is_plain(value)}

    def unused(self, declared: set[str]) -> str | None:
        """A name of a data file that the text has no parameter for; None if there is none."""
        for name in self.origins:
            if name not in declared and not (self.groups.get(name, frozenset()) & declared):
                return name
        return None


def _is_plain(value: Given) -> bool:
    """Whether a value can be understood without a declaration: it has no words and no mappings."""
    if isinstance(value, str | Mapping):
        return False
    return not isinstance(value, Sequence) or all(map(_is_plain, value))


def _plain(name: str, value: Any) -> Value:
    """A constant as a value; raises `ModelError`."""
    is_list = isinstance(value, Sequence) and not isinstance(value, str)
    try:
        return tuple([index(item) for item in value]) if is_list else Const(index(value))
    except (TypeError, ModelError):  # a list of lists, or fractions
        if is_list:
            return Items(tuple([_plain(name, item) for item in value]))
        from constrint.frontends.text.decimals import given_fraction

        found = given_fraction(value)
        if found is None:
            message = f"constant '{name}' must be a number or a sequence of numbers, not {value!r}"
            raise ModelError(message) from None
        return found


class ParameterReader(DeclaringReader):
    """Gives parameters their values.

    Attributes:
        given: The values from outside.
        parameters: The names that the text has declared as parameters or enumerations.
    """

    given: GivenNames
    parameters: set[str]

    def declare_parameters(self, tree: Node) -> None:
        """Declare parameters: `param n, cost[1..n] in 0..99 := 5`."""
        parts = subtrees(tree)
        targets = [part for part in parts if part.data in ("name", "index")]
        limits = next((as_tree(part.children[1]) for part in parts if part.data == "param_domain"), None)
        default = next((as_tree(part.children[0]) for part in parts if part.data == "default"), None)
        domain = None if limits is None else self.members(limits)
        for target in targets:
            value = self._parameter(target, default)
            if domain is not None:
                for number in self._numbers_in(value):
                    if not isinstance(number, IntExpr):
                        name = self._name(target)
                        message = f"{name} has the decimal number {number}, and {domain} are integers"
                        hint = f"declare it without a set: param {name}; a constraint may check its bounds"
                        raise self.error(target, message, hint)
                    known = self.constant_of(target, number)
                    if known not in domain:
                        raise self.error(
                            target, f"{known} is not a value of {self._name(target)}: it is in {domain}"
                        )

    def _name(self, target: Node) -> str:
        return name_of(target if target.data == "name" else as_tree(target.children[0]))

    def _parameter(self, target: Node, default: Node | None) -> Value:
        """Declare one parameter; gives its value."""
        name = self._name(target)
        place = target if target.data == "name" else as_tree(target.children[0])
        if place.data != "name":
            raise self.error(place, "a parameter is a name", "write param cost[1..3, 1..4]")
        if name in self.given.values and name not in self.parameters:
            self.names.pop(name, None)  # a constant that may be used without being declared
        self.new_name(place)
        self.parameters.add(name)
        axes: tuple[Axis, ...] = ()
        if target.data == "index":
            axes = tuple([axis for _, axis in self._head(target)])
            self.budget.values(self._size(target, axes), partial(self.where, target))
        if name in self.given.values:
            value = self._value_given(place, name, axes, self.given.values[name])
        elif default is not None:
            value = self.value(default)
            if axes:
                value = self.fitted(default, name, axes, value)
            for entry in self._numbers_in(value):
                for variable in entry.variables():
                    message = f"'{variable.name}' is a variable; a parameter is a constant"
                    raise self.error(default, message)
        else:
            raise self.error(place, f"parameter '{name}' has no value", self._how(name, bool(axes)))
        self.names[name] = value
        return value

    def _numbers_in(self, value: Value) -> Sequence[Number]:
        """All numbers and fractions in a value; none in a set without end."""
        if is_number(value):
            return (value,)
        if isinstance(value, Array):
            return value.entries
        if isinstance(value, Items):
            return [one for item in value.items for one in self._numbers_in(item)]
        return self.flat(value) or ()

    def _how(self, name: str, has_axes: bool) -> str:
        near = nearest(name, [other for other in self.given.values if other not in self.parameters])
        if near:
            return f"did you mean '{near[0]}', which has one?"
        value = "[…]" if has_axes else "5"
        return f"give a data file, or -D {name}={value.strip('[]')}, or a default: param {name} := {value}"

    # ------------------------------------------------------------ values from outside

    def _value_given(self, tree: Node, name: str, axes: tuple[Axis, ...], value: Given) -> Value:
        if axes:
            entries: list[Number] = []
            self._fill(tree, name, axes, value, entries)
            return Array(axes, tuple(entries))
        if isinstance(value, Mapping):
            hint = f"declare its index set: param {name}[…]"
            raise self._bad(tree, name, "is a mapping", hint)
        return self._item(tree, name, value)

    def _item(self, tree: Node, name: str, value: Given) -> Value:
        """A number, a member of an enumeration, or a list."""
        if not isinstance(value, Sequence) or isinstance(value, str):
            return self._number_given(tree, name, value)
        self.budget.values(len(value), partial(self.where, tree))
        found = [self._item(tree, name, item) for item in value]
        if all(type(item) is Const for item in found):
            return tuple([item.value for item in found if isinstance(item, Const)])
        return Items(tuple(found))

    def _number_given(self, tree: Node, name: str, value: Given) -> Number:
        if isinstance(value, bool):
            return BoolConst(value)
        if isinstance(value, str):
            for enumeration in self.enumerations:
                self.budget.count_steps()
                if value in enumeration.numbers:
                    return enumeration.members[enumeration.numbers[value]]
            near = nearest(value, [label for one in self.enumerations for label in one.labels])
            hint = (
                f"did you mean '{near[0]}'?" if near else "declare its enumeration first: enum colour := {…}"
            )
            raise self._bad(tree, name, f"has '{shown(value, 40)}', which no enumeration has", hint)
        try:
            number = index(value)  # type: ignore[arg-type]  # what is no number is refused here
        except (TypeError, ModelError):
            return self._fraction_given(tree, name, value)
        self.budget.digits(number.bit_length() * 3 // 10, partial(self.where, tree))
        return Const(number)

    def _fraction_given(self, tree: Node, name: str, value: Given) -> Rational:
        from constrint.frontends.text.decimals import given_fraction

        try:
            found = given_fraction(value)
        except ModelError:  # not finite
            found = None
        if found is None:
            raise self._bad(tree, name, f"has {shown(repr(value), 40)}, which is not a number", "")
        size = max(found.denominator, abs(found.numerator.evaluate({}))).bit_length()
        self.budget.digits(size * 3 // 10, partial(self.where, tree))
        return found

    def _fill(
        self, tree: Node, name: str, axes: tuple[Axis, ...], value: Given, entries: list[Number]
    ) -> None:
        """Collect the entries of an array from lists or mappings, one level for each index set."""
        axis, *others = axes
        parts: list[Given] = []
        if isinstance(value, Mapping):
            texts = axis.texts()
            by_text = {str(key): part for key, part in value.items()}
            known = set(texts)
            unknown = next((key for key in by_text if key not in known), None)
            missing = next((text for text in texts if text not in by_text), None)
            if unknown is not None or missing is not None:
                what = (
                    f"has '{unknown}', which is" if missing is None else f"lacks '{missing}'; the indices are"
                )
                tail = f" not in {axis}" if missing is None else f" {axis}"
                raise self._bad(tree, name, what + tail, "")
            parts = [by_text[text] for text in texts]
        elif isinstance(value, Sequence) and not isinstance(value, str):
            parts = list(value)
        else:
            raise self._bad(tree, name, f"is not a list over {axis}", "")
        if len(parts) != len(axis):
            raise self._bad(tree, name, f"has {len(parts)} values for the {len(axis)} of {axis}", "")
        for part in parts:
            if others:
                self._fill(tree, name, tuple(others), part, entries)
            else:
                self.budget.count_steps()
                if isinstance(part, Mapping) or (isinstance(part, Sequence) and not isinstance(part, str)):
                    raise self._bad(tree, name, "is nested more deeply than its index sets", "")
                entries.append(self._number_given(tree, name, part))

    def _bad(self, tree: Node, name: str, message: str, hint: str) -> ParseError:
        origin = None if name in self.given.direct else self.given.origins.get(name)
        where = f"'{name}' in {origin}" if origin else f"the value of '{name}'"
        return self.error(tree, f"{where} {message}", hint)

    # ------------------------------------------------------------ enumerations

    def declare_enumeration(self, tree: Node) -> None:
        """Declare an enumeration: `enum colour := {red, green}`, or without members, which are given."""
        name, *braces = subtrees(tree)
        word = name_of(name)
        if braces:
            self.enumerate(name, list(self.written_labels(braces[0])))
            return
        value = self.given.values.get(word)
        if value is None:
            hint = f"write enum {word} := {{red, green}}, or give a data file with a list of names"
            raise self.error(name, f"enumeration '{word}' has no members", hint)
        if isinstance(value, str | Mapping) or not isinstance(value, Sequence):
            raise self._bad(name, word, "is not a list of names", "")
        labels: list[tuple[str, Node]] = []
        for label in value:
            if not isinstance(label, str) or not label.strip() or any(mark in label for mark in _MARKS):
                raise self._bad(name, word, f"has {shown(repr(label), 40)}, which cannot be a name", "")
            labels.append((label, name))
        self.parameters.add(word)
        self.enumerate(name, labels)

    def check_given(self) -> None:
        """Raise for a constant or a name of a data file that the text has no use for."""
        self.given.check_constants(self.parameters)
        unused = self.given.unused(self.parameters)
        if unused is not None:
            near = nearest(unused, sorted(self.parameters - self.given.values.keys()))
            hint = f"did you mean '{near[0]}'?" if near else f"declare it in the model: param {unused}"
            message = f"{self.given.origins[unused]}: the model has no parameter '{shown(unused, 60)}'"
            raise ModelError(f"{message}\nhint: {hint}")


_MARKS = "`,[]\n\r"
