"""Building a model from a FlatZinc document.

A variable that MiniZinc introduced and that a constraint defines becomes the defining expression, not a
variable of the model, so search does not decide it. A sum that several constraints use stays a variable:
written out in each, differences of two variables would become sums of many, which explain little.
"""

from __future__ import annotations

from collections.abc import Sequence

from constrint.expr import BoolExpr, Const, IntExpr, IntVar, as_bool
from constrint.expr.domain import Domain
from constrint.frontends.flatzinc.builtins import member, relation
from constrint.frontends.flatzinc.definitions import Guarded, found_definitions, target_of
from constrint.frontends.flatzinc.items import Declaration, Document, Item, Name, Value, shortened
from constrint.frontends.flatzinc.library import GLOBALS
from constrint.frontends.flatzinc.sets import Sets
from constrint.frontends.flatzinc.solve_item import FlatModel as FlatModel
from constrint.frontends.flatzinc.solve_item import Output as Output
from constrint.frontends.flatzinc.solve_item import read_outputs, read_solve_item
from constrint.frontends.flatzinc.typed_arguments import Arguments
from constrint.modelling.declarations import Constraint, Declarations
from constrint.modelling.symbols import SetExpr

DEFINITION_LEVELS = 40
"""Definitions nested deeper than this are cut by a variable, because expressions are walked recursively."""
SUBSTITUTED_PARTS = 1000
"""Definitions with more operators and operands, including those of inner definitions, are cut as well."""
# How often an argument occurs in a definition.
_COPIES = {"int_div": 6, "int_mod": 6, "int_pow": 12, "int_pow_fixed": 12}


def build(document: Document) -> FlatModel:
    """The model of a document, which loses its constraints; raises `ParseError` for unsupported items."""
    return _ModelBuilder(document).build()


class _ModelBuilder:
    def __init__(self, document: Document) -> None:
        self.document = document
        self.model = Declarations(document.filename)
        self.flat = FlatModel(self.model, document=document)
        self._known: dict[str, IntExpr] = {}
        self._arrays: dict[str, list[Value]] = {}
        self._definitions: dict[str, Item] = {}
        self._active: set[str] = set()
        self._sizes: dict[str, int] = {}  # sizes of definitions
        self._size = 0  # size of the present definition
        self._used: set[int] = set()
        self._sets = Sets(self)

    def build(self) -> FlatModel:
        document = self.document
        for declaration in document.declarations.values():
            if declaration.is_array:
                self._arrays[declaration.name] = self._array(declaration)
        self._definitions = found_definitions(self, self._arrays)
        for declaration in document.declarations.values():
            if declaration.is_set and declaration.is_variable and not declaration.is_array:
                self.set_of(Name(declaration.name), declaration.line)
            is_single = declaration.is_variable and not declaration.is_array and not declaration.is_set
            if is_single and declaration.name not in self._definitions:
                self._named(declaration.name, declaration.line, 0)
        if self._definitions:
            for item in document.constraints:
                if item.defines in self._definitions and self._definitions[item.defines] is item:
                    self._named(item.defines, item.line, 0)
        items, document.constraints = document.constraints[::-1], []
        while items:
            item = items.pop()  # each is freed when its condition is there
            if id(item) not in self._used:
                self._add(item)
        self._keep_entries_within()
        read_outputs(self, self.flat)
        read_solve_item(self, self.flat)
        return self.flat

    # ------------------------------------------------------------ looking up

    def _array(self, declaration: Declaration) -> list[Value]:
        if not isinstance(declaration.value, list):
            if isinstance(declaration.value, Name):
                return self.entries(declaration.value, declaration.line)
            message = f"the array '{shortened(declaration.name)}' has no value"
            raise self.document.error(declaration.line, message)
        return declaration.value

    def entries(self, value: Value, line: int) -> list[Value]:
        """The entries of an array, each counted against the limits."""
        if isinstance(value, list):
            return value
        if isinstance(value, Name) and value.index is None and value.name in self._arrays:
            found = self._arrays[value.name]
            self.document.budget.elements(len(found), self.document.place(line))
            return found
        raise self.document.expected(line, "an array", value)

    def number(self, value: Value, line: int, depth: int = 0) -> IntExpr:
        """An integer expression; a condition counts as 0 or 1."""
        if isinstance(value, Name):
            return self._looked_up(value, line, depth)
        if isinstance(value, bool | int):
            return Const(int(value))
        raise self.document.expected(line, "an integer", value)

    def condition(self, value: Value, line: int, depth: int = 0) -> BoolExpr:
        """A condition."""
        if isinstance(value, bool):
            return as_bool(value)
        if isinstance(value, Name):
            found = self._looked_up(value, line, depth)
            if isinstance(found, BoolExpr):
                return found
            self._check_truth(value, found, line)
            return as_bool(bool(found.value)) if isinstance(found, Const) else found == 1
        raise self.document.expected(line, "a Boolean", value)

    def _check_truth(self, name: Name, found: IntExpr, line: int) -> None:
        """Refuse an integer where a Boolean is expected; `bool2int` makes integers of 0 and 1."""
        if isinstance(found, Const | IntVar):
            domain = Domain.of_values([found.value]) if isinstance(found, Const) else found.domain
            if domain.lo is None or domain.hi is None or domain.lo < 0 or domain.hi > 1:
                raise self.document.expected(line, "a Boolean", name)

    def numbers(self, values: Sequence[Value], line: int, depth: int = 0) -> list[IntExpr]:
        """Integer expressions: those of names that are known without a call for each."""
        known, sizes = self._known, self._sizes
        found = [known.get(value.name) if type(value) is Name else None for value in values]
        for place, (value, expr) in enumerate(zip(values, found, strict=True)):
            if expr is None or value.index is not None:  # type: ignore[union-attr] # known names only
                found[place] = self.number(value, line, depth)
            else:
                self._size += sizes.get(value.name, 1)  # type: ignore[union-attr] # as above
        return found  # type: ignore[return-value] # all are found

    def constants(self, values: Sequence[Value], line: int) -> list[int]:
        """Constants."""
        return [value if type(value) is int else self.constant(value, line) for value in values]

    def constant(self, value: Value, line: int) -> int:
        """A constant."""
        found = self.number(value, line)
        if not isinstance(found, Const):
            raise self.document.expected(line, "a constant", value)
        return found.value

    def resolved(self, value: Value, line: int) -> Value:
        """The value for the name of a constant or of an entry; any other value as it is."""
        seen = set()
        while isinstance(value, Name) and value not in seen:
            seen.add(value)
            if value.index is not None:
                value = self._entry(value, line)
                continue
            declaration = self._declaration(value, line)
            if declaration.is_array or declaration.is_variable or declaration.value is None:
                break
            value = declaration.value
        return value

    def set_of(self, value: Value, line: int) -> SetExpr:
        """A set, constant or not."""
        return self._sets.read(value, line)

    def members(self, value: Value, line: int) -> Domain:
        """A constant set."""
        found = self.resolved(value, line)
        if isinstance(found, Domain):
            return found
        raise self.document.expected(line, "a set of integers", value)

    def _entry(self, name: Name, line: int) -> Value:
        entries = self._arrays.get(name.name)
        if entries is None or name.index is None:
            raise self.document.expected(line, "an array", Name(name.name))
        if not 1 <= name.index <= len(entries):
            raise self.document.error(
                line, f"'{shortened(name.name)}' has no such entry: the index is outside 1..{len(entries)}"
            )
        return entries[name.index - 1]

    def _looked_up(self, name: Name, line: int, depth: int) -> IntExpr:
        self.document.budget.count_steps()
        if name.index is not None:
            return self.number(self._entry(name, line), line, depth)
        return self._named(name.name, line, depth)

    def _declaration(self, name: Name, line: int) -> Declaration:
        declaration = self.document.declarations.get(name.name)
        if declaration is None:
            raise self.document.error(line, f"'{shortened(name.name)}' is not declared")
        return declaration

    def _named(self, name: str, line: int, depth: int) -> IntExpr:
        known = self._known.get(name)
        if known is not None:
            self._size += self._sizes.get(name, 1)
            return known
        declaration = self._declaration(Name(name), line)
        if declaration.is_array or declaration.is_set:
            kind = "an array" if declaration.is_array else "a set"
            message = f"'{shortened(name)}' is {kind}, where a single value is expected"
            raise self.document.error(line, message)
        if declaration.value is not None:
            self._resolve(declaration)
            found = self._equal(declaration, depth)
        elif name in self._definitions and depth < DEFINITION_LEVELS and name not in self._active:
            found = self._defined(declaration, self._definitions[name], depth)
        else:
            found = self._variable(declaration)
        self._known.setdefault(name, found)
        self._size += self._sizes.get(name, 1)
        return self._known[name]

    def _resolve(self, declaration: Declaration) -> None:
        """Resolve chains of variables that are declared equal to another."""
        chain: dict[str, Declaration] = {}
        while declaration.name not in self._known:
            if declaration.name in chain:
                message = f"'{shortened(declaration.name)}' is declared equal to itself"
                raise self.document.error(declaration.line, message)
            chain[declaration.name] = declaration
            value = declaration.value
            if isinstance(value, Name) and value.index is not None:
                value = self._entry(value, declaration.line)
            if not isinstance(value, Name) or value.index is not None:
                break
            declaration = self._declaration(value, declaration.line)
            if declaration.is_array or declaration.value is None:
                break
        for other in list(chain.values())[:0:-1]:
            self._known.setdefault(other.name, self._equal(other, 0))

    def _equal(self, declaration: Declaration, depth: int) -> IntExpr:
        """The expression for a constant, or for a variable that is declared equal to something."""
        assert declaration.value is not None
        if declaration.domain is None:
            return self.condition(declaration.value, declaration.line, depth)
        found = self.number(declaration.value, declaration.line, depth)
        if declaration.is_variable:
            self._keep_within(found, declaration.domain)
        return found

    def _variable(self, declaration: Declaration) -> IntExpr:
        self.document.budget.variable(1, self.document.place(declaration.line))
        if declaration.domain is None:
            return self.model.bool_var(declaration.name)
        domain = declaration.domain
        if domain.is_empty:
            self.model.add(as_bool(False), name=declaration.name)
            domain = Domain.of_range(0, 0)
        if domain.values is not None:
            return self.model.int_var(declaration.name, values=domain.values)
        return self.model.int_var(declaration.name, domain.lo, domain.hi, step=domain.step)

    def _defined(self, declaration: Declaration, item: Item, depth: int) -> IntExpr:
        """The expression by which a constraint defines a variable."""
        self._active.add(declaration.name)
        around, self._size = self._size, 0
        try:
            found = target_of(self, item, declaration.name)
            assert found is not None
            with Guarded(self.document, item):
                expr: IntExpr = found(Arguments(self, item, item.args, depth + 1))
        finally:
            self._active.discard(declaration.name)
            size, self._size = self._size, around
        if declaration.name in self._known:  # it occurred again below itself, and is a variable since then
            return self._known[declaration.name]
        size *= _COPIES.get(item.name, 1)
        own = sum([len(arg) if isinstance(arg, list) else 1 for arg in item.args])
        if size > SUBSTITUTED_PARTS + 20 * own:
            return self._variable(declaration)
        self._sizes[declaration.name] = size
        self._used.add(id(item))
        if declaration.domain is None:
            return expr if isinstance(expr, BoolExpr) else expr == 1
        self._keep_within(expr, declaration.domain)
        return expr

    def _keep_within(self, expr: IntExpr, domain: Domain) -> None:
        if domain.is_empty or domain.lo is not None or domain.hi is not None:
            self._keep(member(expr, domain))

    def _keep_entries_within(self) -> None:
        """Keep the entries of arrays inside the type that their array declares."""
        for declaration in self.document.declarations.values():
            domain = declaration.domain
            if not (declaration.is_array and declaration.is_variable) or domain is None:
                continue
            if domain.lo is None and domain.hi is None and not domain.is_empty:
                continue
            for entry in self._arrays[declaration.name]:
                if declaration.is_set:
                    for condition in self._sets.bounded(self.set_of(entry, declaration.line), domain):
                        self.model.add(condition, name=declaration.name)
                else:
                    self._keep_within(self.number(entry, declaration.line), domain)

    # ------------------------------------------------------------ adding

    def _add(self, item: Item) -> None:
        condition = relation(item.name, GLOBALS)
        if condition is None:
            raise self.document.error(
                item.line,
                f"the constraint '{shortened(item.name)}' is not supported (with {len(item.args)} arguments)",
            )
        with Guarded(self.document, item):
            self._keep(condition(Arguments(self, item, item.args)), f"line {item.line}: {item.name}")
            self.document.budget.count_steps(1)

    def _keep(self, condition: BoolExpr, name: str | None = None) -> None:
        """Add a constraint, whose variables are the model's own: nothing else can be named in a text."""
        self.model.constraints.append(Constraint(condition, name))
