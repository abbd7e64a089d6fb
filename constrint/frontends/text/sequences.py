"""Lists, sets, ranges and comprehensions of the text language."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

from constrint.expr import BoolExpr, Comparison, Const, IntExpr
from constrint.expr.domain import Domain, EnumDomain
from constrint.frontends.constants import as_tree, name_of, subtrees
from constrint.frontends.text.free_names import count_of, free_names
from constrint.frontends.text.labels import members_of
from constrint.frontends.text.meanings import (
    Array,
    Axis,
    EnumerationType,
    Items,
    Number,
    Value,
    has_fractions,
    is_number,
    kind_of,
)
from constrint.frontends.text.names import NameReader
from constrint.frontends.text.refusals import no_fractions
from constrint.support.limits import exceeded

if TYPE_CHECKING:
    from lark import Token, Tree

    Node: TypeAlias = Tree[Token]

MOST_MEMBERS = 1_000_000
"""The most members of a range in braces; a longer one belongs outside braces."""
_ENTRIES_OF_ARRAY = 20
"""An array takes as long to make as this many entries take to copy."""
Read = TypeVar("Read")


class SequenceReader(NameReader):
    """Reads lists, sets, ranges and comprehensions."""

    _depth = 0  # how deep the present expression is nested

    def value(self, tree: Node) -> Value:
        """The meaning of any argument: an expression, a list, a set or an array."""
        raise NotImplementedError

    def expression(self, tree: Node) -> IntExpr:
        """An integer or a condition."""
        raise NotImplementedError

    def operand(self, tree: Node) -> Number:
        """An integer, a condition or a fraction."""
        raise NotImplementedError

    def boolean(self, tree: Node) -> BoolExpr:
        """A condition."""
        raise NotImplementedError

    def constant(self, tree: Node) -> int:
        """A constant; raises `ParseError` for anything else."""
        raise NotImplementedError

    # ------------------------------------------------------------ lists

    def list_of(self, tree: Node) -> Value:
        """The value of a list in brackets."""
        inner = self.inner_token(tree)
        if inner is not None:
            if inner.type == "NUMBERS":
                return tuple(self.long_list(inner))
            return Items(tuple(self.long_rows(inner)))
        return _listed([one for child in subtrees(tree) for one in self.listed(child)])

    def listed(self, tree: Node) -> list[Value]:
        """The values that an item of a list, a set or of arguments stands for; a range is its members."""
        if tree.data == "comprehension":
            return self.expanded(tree, self.value)
        self.budget.values(1, partial(self.where, tree))
        if tree.data == "range":
            return [Const(number) for number in self.written_out(tree)]
        return [self.value(tree)]

    def entries(self, tree: Node) -> tuple[IntExpr, ...]:
        """The expressions in a list, an array or a set; those of inner lists one after the other."""
        value = self.value(tree)
        found = self.flat_integers(tree, value)
        if found is None:
            text = self.position(tree).text
            raise self.error(tree, f"'{text}' is {kind_of(value)}, not a list", f"write [{text}]")
        return found

    def flat_integers(self, tree: Node, value: Value) -> tuple[IntExpr, ...] | None:
        """As `flat`, with an error for fractions."""
        found = self.flat(value)
        if found is None and has_fractions(value):
            raise no_fractions(self, tree)
        return found

    def flat(self, value: Value) -> tuple[IntExpr, ...] | None:
        """All expressions in a list, an array or a set; None for another value, and for fractions."""
        if isinstance(value, Array):
            self.budget.elements(len(value.entries), self.statement_place)
            return value.integers
        if isinstance(value, Items):
            self.budget.elements(len(value.items), self.statement_place)
            found: list[IntExpr] = []
            for item in value.items:
                inner = (item,) if isinstance(item, IntExpr) else self.flat(item)
                if inner is None:
                    return None
                found += inner
            return tuple(found)
        numbers = self._numbers(value)
        return None if numbers is None else tuple(map(Const, numbers))

    def _numbers(self, value: Value) -> Sequence[int] | None:
        """The members of a list or set of constants; None for another value."""
        if isinstance(value, Domain):
            if not value.is_finite:
                return None
            self.budget.values(value.size or 0, self.statement_place)
            return tuple(members_of(value))
        if isinstance(value, tuple | EnumerationType):
            self.budget.elements(len(value), self.statement_place)
            return value if isinstance(value, tuple) else [member.value for member in value.members]
        return None

    def array_of(self, value: Value) -> Array | None:
        """A list as an array that counts from 0, with an axis for each level of equally long lists."""
        if isinstance(value, Array):
            return value
        if isinstance(value, tuple):
            self.budget.elements(len(value), self.statement_place)
            return Array((Axis(range(len(value))),), tuple([Const(item) for item in value]))
        if not isinstance(value, Items):
            return None
        self.budget.elements(len(value.items), self.statement_place)
        if all(map(is_number, value.items)):
            return Array((Axis(range(len(value.items))),), cast("tuple[Number, ...]", value.items))
        arrays: list[Array] = []
        shape: list[tuple[int, ...]] = []
        for item in value.items:
            part = self.array_of(item)
            if part is None or _shape(part) != (shape := shape or _shape(part)):
                return None
            arrays.append(part)
        entries = tuple([entry for array in arrays for entry in array.entries])
        self.budget.elements(len(entries) + _ENTRIES_OF_ARRAY, self.statement_place)
        return Array((Axis(range(len(arrays))), *arrays[0].axes), entries)

    def sequence(self, tree: Node) -> tuple[int, ...]:
        """A sequence of constants: a list, a set, or the name of one."""
        value = self.value(tree)
        if isinstance(value, tuple):
            self.budget.elements(len(value), partial(self.where, tree))
            return value
        if isinstance(value, Items) and not all(map(is_number, value.items)):
            raise self.error(tree, "a list of lists is not a sequence", "take one of them: [3, 5, 7]")
        found = None if is_number(value) else self.flat_integers(tree, value)
        if found is None:
            text = self.position(tree).text
            hint = "only lists of constants have elements: [3, 5, 7][k]"
            raise self.error(tree, f"'{text}' is not a sequence", hint)
        return tuple([self.constant_of(tree, entry) for entry in found])

    def rows(self, tree: Node) -> list[tuple[int, ...]]:
        """A list of lists of constants."""
        if tree.data == "list" and self.inner_token(tree) is None:
            inner = subtrees(tree)
            if all(child.data == "list" for child in inner):
                return [self.sequence(child) for child in inner]
        value = self.value(tree)
        parts: Iterable[Value] | None = None
        if isinstance(value, Array) and len(value.axes) > 1:
            parts = value.parts()
        elif isinstance(value, Items):
            parts = value.items
        elif isinstance(value, tuple) and not value:
            parts = ()
        if parts is not None:
            found = [self.flat_integers(tree, part) for part in parts if not is_number(part)]
            lists = [tuple([self.constant_of(tree, one) for one in row]) for row in found if row is not None]
            if isinstance(value, Array) or len(lists) == len(cast("Items", value).items if value else ()):
                return lists
        text = self.position(tree).text
        raise self.error(tree, f"'{text}' is not a list of lists", "write such as [[1, 2], [3, 4]]")

    def constant_of(self, tree: Node, expr: IntExpr) -> int:
        """The value of an expression that stands for a constant."""
        raise NotImplementedError

    # ------------------------------------------------------------ sets

    def members(self, tree: Node) -> Domain:
        """The set after `in`."""
        if tree.data == "range":
            return self.range_of(tree)
        if tree.data == "braces":
            return self.braces(tree)
        value = self.value(tree)
        found = self.domain_of(tree, value)
        if found is not None:
            return found
        text = self.position(tree).text
        if isinstance(value, IntExpr):
            hint = f"write a range 1..{text}, a set {{{text}}} or the name of a sequence"
        else:
            hint = "write a set of constants: {1, 2}, or a condition: exists(x == y for y in …)"
        raise self.error(tree, f"'{text}' is not a set", hint)

    def domain_of(self, tree: Node, value: Value) -> Domain | None:
        """The set that a value stands for; None if it is none of constants."""
        if isinstance(value, Domain):
            return value
        if isinstance(value, tuple):
            self.budget.elements(len(value), partial(self.where, tree))
            return EnumDomain.of_constants(Domain.of_values(value), value)
        if isinstance(value, EnumerationType):
            return EnumDomain.labelled(value.labels)
        found = None if is_number(value) else self.flat_integers(tree, value)
        if found is None or any(not isinstance(entry, Const) for entry in found):
            return None
        numbers = [self.constant_of(tree, entry) for entry in found]
        return EnumDomain.of_constants(Domain.of_values(numbers), numbers)

    def braces(self, tree: Node) -> Domain:
        """The set in braces."""
        inner = self.inner_token(tree)
        if inner is not None:
            return Domain.of_values(self.long_list(inner))
        values: set[int] = set()
        for item in subtrees(tree):
            if item.data == "comprehension":
                values.update(self.expanded(item, self.constant))
            elif item.data == "range":
                values.update(self.written_out(item))
            else:
                self.budget.values(1, partial(self.where, item))
                values.add(self.constant(item))
        return EnumDomain.of_constants(Domain.of_values(values), values)

    def range_of(self, tree: Node) -> Domain:
        """The set that a range is."""
        lo, hi, *step = subtrees(tree)
        low = self.constant(as_tree(lo.children[0])) if lo.children else None
        high = self.constant(as_tree(hi.children[0])) if hi.children else None
        stride = self.constant(step[0]) if step else 1
        if stride < 1:
            raise self.error(step[0], f"a step must be at least 1, not {stride}")
        if low is None and high is None and stride != 1:
            raise self.error(
                step[0], "a step needs a bound to count from", "write 0.. step 4, or 4 divides x"
            )
        ends = [one for one in (low, high) if one is not None]
        return EnumDomain.of_constants(Domain.of_range(low, high, stride), ends)

    def written_out(self, tree: Node) -> Iterable[int]:
        """The members of a range that stands in braces or brackets."""
        domain = self.range_of(tree)
        if domain.lo is None or domain.hi is None:
            raise self.error(tree, "a range inside braces needs both bounds")
        size = domain.size or 0
        if size > MOST_MEMBERS:
            raise self.error(tree, "this range is too long to stand inside braces", "write x in lo..hi")
        self.budget.values(size, partial(self.where, tree))
        return members_of(domain)

    # ------------------------------------------------------------ comprehensions

    def expanded(self, tree: Node, read: Callable[[Node], Read]) -> list[Read]:
        """The elements of a comprehension: its head, read for each choice of the generators."""
        head, *generators = subtrees(tree)
        found: list[Read] = []
        before = self.locals
        self.locals = dict(before)
        try:
            self._generate(generators, lambda: found.append(read(head)))
        finally:
            self.locals = before
        if not found:
            self.check_names(tree, set())
        return found

    def _generate(self, generators: Sequence[Node], visit: Callable[[], None]) -> None:
        """Visit all choices of some generators."""
        if not generators:
            visit()
            return
        generator, *others = generators
        count = count_of(generator)
        names = [name_of(child) for child in generator.children[:count]]
        members = as_tree(generator.children[count + 1])
        conditions = [as_tree(child) for child in generator.children[count + 2 :]]
        self.budget.count_steps()
        self._depth += 1
        self.budget.depth(self._depth, partial(self.where, generator))
        hidden = self.locals  # what the names stand for outside, which the next choice begins with
        self.locals = dict(hidden)
        for value in self._run_through(members):
            self.budget.node(1, partial(self.where, generator))
            if len(names) == 1:
                self.locals[names[0]] = value
            else:
                self._unpack(generator, names, value)
            if all(self._holds(as_tree(condition.children[-1])) for condition in conditions):
                self._generate(others, visit)
            self.locals = dict(hidden)
        self._depth -= 1

    def _run_through(self, tree: Node) -> Iterable[Value]:
        """The values that a generator runs through."""
        value = self.value(tree)
        if isinstance(value, Domain):
            if not value.is_finite:
                raise self.error(tree, "a generator needs a finite set", "give the range both bounds: 1..9")
            self._check_size(tree, value.size or 0)
            return map(Const, members_of(value))
        if isinstance(value, tuple):
            return map(Const, value)
        if isinstance(value, EnumerationType):
            return value.members
        if isinstance(value, Items):
            return value.items
        if isinstance(value, Array):
            self.budget.elements(len(value.entries), partial(self.where, tree))
            return value.parts()
        text = self.position(tree).text
        hint = (
            f"write a range: 1..{text}" if isinstance(value, IntExpr) else "write a set, a list or an array"
        )
        raise self.error(tree, f"'{text}' is {kind_of(value)}: a generator runs through a set or list", hint)

    def _check_size(self, tree: Node, size: int) -> None:
        """Refuse at once what would exceed the limit after a long time."""
        limit = self.budget.limits.nodes
        if limit is not None and size > limit:
            raise exceeded("nodes", limit, partial(self.where, tree))

    def _unpack(self, generator: Node, names: Sequence[str], value: Value) -> None:
        parts: Sequence[Value] = ()
        if isinstance(value, tuple):
            parts = [Const(item) for item in value]
        elif isinstance(value, Items):
            parts = value.items
        elif isinstance(value, Array):
            parts = list(value.parts())
        if len(parts) != len(names) or isinstance(value, IntExpr):
            what = f"{kind_of(value)} of {len(parts)}" if parts else kind_of(value)
            message = f"{len(names)} names for {what}"
            hint = "for i, j in … takes lists of two apart; two generators are written for i in … for j in …"
            raise self.error(generator, message, hint)
        self.locals.update(zip(names, parts, strict=True))

    def _holds(self, tree: Node) -> bool:
        """Whether a filter lets the present choice through."""
        condition = self.boolean(tree)
        plain = plain_value(condition)
        if plain is not None:
            return bool(plain)
        for variable in condition.variables():
            hint = "filters choose before solving; a condition on variables stands before 'for': c -> …"
            raise self.error(tree, f"'{variable.name}' is a variable; a filter must be a constant", hint)
        return bool(self.constant_of(tree, condition))

    # ------------------------------------------------------------ names of what is not read

    def check_names(self, tree: Node, bound: set[str]) -> None:
        """Raise the error for a name that nothing declares, in a part that is read later or never."""
        for place, name in free_names(tree, bound, self.budget):
            if self.found(name) is None and not self.is_word(name):
                raise self.unknown(place, name)

    def is_word(self, name: str) -> bool:
        """Whether a name may be a word of a global constraint."""
        raise NotImplementedError


def _shape(array: Array) -> list[tuple[int, ...]]:
    """The indices along the axes of an array."""
    return [tuple(axis.members) for axis in array.axes]


def plain_value(expr: IntExpr) -> int | None:
    """The value of a number, and of a comparison of two; filters are evaluated very often."""
    if type(expr) is Const:
        return expr.value
    if type(expr) is Comparison and type(expr.left) is Const and type(expr.right) is Const:
        return int(expr.meaning({}))
    return None


def _listed(items: list[Value]) -> Value:
    """The value of a list: a sequence of constants where all items are."""
    if all(type(item) is Const for item in items):
        return tuple([cast("Const", item).value for item in items])
    return Items(tuple(items))
