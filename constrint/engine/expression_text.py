"""Expressions of a compilable function as the text of LLVM's intermediate language.

Arithmetic wraps at 64 bits. Division rounds down, as Python's does; by zero it gives 0. A shift by
64 bits or more gives 0, or -1 for a negative number that is shifted right.

Variables live in stack slots, which LLVM turns into registers. A structure is a table of the addresses and
lengths of its arrays, which compiled code never changes; this, and that no two fields share memory, is stated
to LLVM.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from inspect import isfunction
from typing import TYPE_CHECKING

from constrint.errors import InternalError

if TYPE_CHECKING:
    from constrint.engine.translation import TranslationUnit

BINARY: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor",
    ast.LShift: "shl", ast.RShift: "ashr",
}  # fmt: skip
DIVISION: dict[type[ast.operator], str] = {ast.FloorDiv: "quotient", ast.Mod: "remainder"}
COMPARISON: dict[type[ast.cmpop], str] = {
    ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "slt", ast.LtE: "sle", ast.Gt: "sgt", ast.GtE: "sge",
}  # fmt: skip
EXTREMES = {"min": "smin", "max": "smax"}
FIELD_BYTES = 16  # of a field of a structure: the address of its array, then its length
LARGEST_INT64 = (1 << 63) - 1
BITS = 64


class Cells:
    """An array: the slots of its address and of its length, and the name of its field, "" if not known."""

    __slots__ = ("address", "field", "length")

    def __init__(self, address: str, length: str, field: str) -> None:
        self.address, self.length, self.field = address, length, field


class ExpressionText:
    """The text of expressions.

    Args:
        program: What the function is a part of.
        function: The function that they are in.
    """

    def __init__(self, program: TranslationUnit, function: Callable[..., object]) -> None:
        self._program = program
        self._globals = function.__globals__
        self._slots: list[str] = []  # allocations at the start
        self._lines: list[str] = []
        self._count = 0
        self._is_open = True  # whether the present block has no end yet
        self._integers: dict[str, str] = {}
        self._cells: dict[str, Cells] = {}
        self._structures: dict[str, tuple[str, str, dict[str, int]]] = {}
        self._local = frozenset(function.__code__.co_varnames)  # all others are names of the module
        self._line = function.__code__.co_firstlineno

    def _refused(self, node: ast.AST) -> InternalError:
        line = self._line + getattr(node, "lineno", 1) - 1
        where = f"{self._globals['__name__']}, line {line}"
        return InternalError(f"{where}: {ast.unparse(node)!r} is not in the Python that can be compiled")

    # Text

    def _new(self) -> str:
        self._count += 1
        return f"%t{self._count}"

    def _add(self, line: str) -> None:
        self._lines.append("  " + line)
        self._is_open = not line.startswith(("br ", "ret ", "unreachable"))

    def _let(self, expression: str) -> str:
        """Name the value of an instruction."""
        name = self._new()
        self._add(f"{name} = {expression}")
        return name

    def _slot(self, kind: str = "i64", initial: str = "0") -> str:
        """A stack slot."""
        self._count += 1
        name = f"%s{self._count}"
        self._slots.append(f"  {name} = alloca {kind}\n  store {kind} {initial}, ptr {name}")
        return name

    def _label(self) -> str:
        self._count += 1
        return f"b{self._count}"

    def _begin(self, label: str) -> None:
        """Begin a block; the present one goes on there if it has no end."""
        if self._is_open:
            self._add(f"br label %{label}")
        self._lines.append(f"{label}:")
        self._is_open = True

    def _go(self, label: str) -> None:
        if self._is_open:
            self._add(f"br label %{label}")

    # Names

    def _parameter(self, argument: ast.arg) -> str:
        """Take a parameter; its text in the heading."""
        name = argument.arg
        kind = ast.unparse(argument.annotation) if argument.annotation is not None else ""
        if kind in ("int", "bool"):
            self._integers[name] = self._slot("i64", f"%arg.{name}")
            return f"i64 %arg.{name}"
        if kind == "list[int]":
            address, length = self._slot("ptr", f"%arg.{name}"), self._slot("i64", f"%length.{name}")
            self._cells[name] = Cells(address, length, "")
            return f"ptr %arg.{name}, i64 %length.{name}"
        structure = self._globals.get(kind)
        fields = getattr(structure, "_fields", None)
        if structure is None or fields is None:
            raise self._refused(argument)
        whole = f"{structure.__module__}.{structure.__qualname__}"  # modules may name it otherwise
        self._structures[name] = (f"%arg.{name}", whole, {field: i for i, field in enumerate(fields)})
        return f"ptr noalias readonly dereferenceable({FIELD_BYTES * len(fields)}) %arg.{name}"

    def _array(self, node: ast.expr) -> tuple[str, str, str]:
        """Address, length and field of an array."""
        if isinstance(node, ast.Name) and node.id in self._cells:
            cells = self._cells[node.id]
            return (
                self._let(f"load ptr, ptr {cells.address}"),
                self._let(f"load i64, ptr {cells.length}"),
                cells.field,
            )
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            structure, kind, fields = self._structures.get(node.value.id, ("", "", {}))
            if node.attr in fields:
                place = FIELD_BYTES * fields[node.attr]
                at = self._let(f"getelementptr i8, ptr {structure}, i64 {place}")
                data = self._let(f"load ptr, ptr {at}, !invariant.load !0")
                at = self._let(f"getelementptr i8, ptr {structure}, i64 {place + FIELD_BYTES // 2}")
                return data, self._let(f"load i64, ptr {at}, !invariant.load !0"), f"{kind}.{node.attr}"
        raise self._refused(node)

    def _cell(self, node: ast.Subscript) -> tuple[str, str]:
        """The address of a cell, and the note on its field."""
        address, length, field = self._array(node.value)
        index = self._value(node.slice)
        self._demand_below(index, length)
        return self._let(f"getelementptr i64, ptr {address}, i64 {index}"), self._program.note(field)

    def _demand_below(self, operand: str, end: str) -> None:
        """In checked code, end the process if a number is negative, or not below an end."""
        if not self._program.checked:
            return
        inside, outside = self._label(), self._label()
        self._add(f"br i1 {self._let(f'icmp ult i64 {operand}, {end}')}, label %{inside}, label %{outside}")
        self._begin(outside)
        self._add("call void @llvm.trap()")
        self._add("unreachable")
        self._begin(inside)

    # Expressions

    def _value(self, node: ast.expr) -> str:
        """The value of an expression, as an operand."""
        if isinstance(node, ast.Name):
            return self._named(node)
        if isinstance(node, ast.Constant):
            return self._constant(node, node.value)
        if isinstance(node, ast.Subscript):
            at, note = self._cell(node)
            return self._let(f"load i64, ptr {at}, !tbaa {note}")
        if isinstance(node, ast.BinOp):
            left = self._value(node.left)
            return self._operation(node, node.op, left, self._value(node.right))
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return self._let(f"sub i64 0, {self._value(node.operand)}")
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
            return self._let(f"xor i64 {self._value(node.operand)}, -1")
        if isinstance(node, ast.IfExp):
            return self._chosen(node)
        if isinstance(node, ast.BoolOp):
            return self._last_looked_at(node)
        if isinstance(node, ast.Compare) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)):
            return self._truth(node)
        raise self._refused(node)

    def _named(self, node: ast.Name) -> str:
        """The value of a variable of the function or of a number of the module."""
        if node.id in self._local and node.id not in self._cells and node.id not in self._structures:
            return self._let(f"load i64, ptr {self._variable(node)}")
        return self._constant(node, self._globals.get(node.id))

    def _variable(self, node: ast.Name) -> str:
        """The slot of a variable of the function; it may be read above where it is assigned to, in a loop."""
        if node.id in self._cells or node.id in self._structures:
            raise self._refused(node)
        if node.id not in self._integers:
            self._integers[node.id] = self._slot()
        return self._integers[node.id]

    def _constant(self, node: ast.expr, value: object) -> str:
        if not isinstance(value, int) or not -LARGEST_INT64 - 1 <= value <= LARGEST_INT64:
            raise self._refused(node)
        return str(int(value))

    def _operation(self, node: ast.AST, operator: ast.operator, left: str, right: str) -> str:
        if type(operator) in BINARY:
            if isinstance(operator, ast.LShift | ast.RShift) and not (right.isdigit() and int(right) < BITS):
                kind = "left" if isinstance(operator, ast.LShift) else "right"
                return self._let(f"call i64 @{kind}(i64 {left}, i64 {right})")
            return self._let(f"{BINARY[type(operator)]} i64 {left}, {right}")
        if type(operator) in DIVISION:
            return self._let(f"call i64 @{DIVISION[type(operator)]}(i64 {left}, i64 {right})")
        raise self._refused(node)

    def _call(self, node: ast.Call) -> str:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if node.keywords or name in self._local:
            raise self._refused(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "bit_count" and not node.args:
            size = self._let(f"call i64 @llvm.abs.i64(i64 {self._value(node.func.value)}, i1 false)")
            return self._let(f"call i64 @llvm.ctpop.i64(i64 {size})")
        if name == "len" and len(node.args) == 1:
            return self._array(node.args[0])[1]
        function = self._globals.get(name)
        if function is None:
            return self._built_in(node, name)
        if not isfunction(function) or function.__code__.co_argcount != len(node.args):
            raise self._refused(node)
        kinds: list[str] = []
        operands: list[str] = []
        for argument in node.args:
            if isinstance(argument, ast.Name) and argument.id in self._structures:
                kinds.append("ptr")
                operands.append(self._structures[argument.id][0])
            elif isinstance(argument, ast.Attribute) or (
                isinstance(argument, ast.Name) and argument.id in self._cells
            ):
                kinds += ["ptr", "i64"]
                operands += self._array(argument)[:2]
            else:
                kinds.append("i64")
                operands.append(self._value(argument))
        symbol = self._program.symbol(function)
        given = ", ".join(f"{kind} {operand}" for kind, operand in zip(kinds, operands, strict=True))
        return self._let(f"call i64 @{symbol}({given})")

    def _built_in(self, node: ast.Call, name: str) -> str:
        values = [self._value(argument) for argument in node.args]
        if name == "int" and len(values) == 1:
            return values[0]
        if name == "abs" and len(values) == 1:
            return self._let(f"call i64 @llvm.abs.i64(i64 {values[0]}, i1 false)")
        if name not in EXTREMES or len(values) < 2:
            raise self._refused(node)
        found = values[0]
        for value in values[1:]:
            found = self._let(f"call i64 @llvm.{EXTREMES[name]}.i64(i64 {found}, i64 {value})")
        return found

    def _chosen(self, node: ast.IfExp) -> str:
        """The value of a conditional expression."""
        slot, yes, no, end = self._slot(), self._label(), self._label(), self._label()
        self._branch(node.test, yes, no)
        for label, value in ((yes, node.body), (no, node.orelse)):
            self._begin(label)
            self._add(f"store i64 {self._value(value)}, ptr {slot}")
            self._go(end)
        self._begin(end)
        return self._let(f"load i64, ptr {slot}")

    def _last_looked_at(self, node: ast.BoolOp) -> str:
        """The value of ``x and y`` or ``x or y``: the first that settles it, else the last."""
        slot, end = self._slot(), self._label()
        for place, part in enumerate(node.values):
            value = self._value(part)
            self._add(f"store i64 {value}, ptr {slot}")
            if place < len(node.values) - 1:
                following = self._label()
                yes, no = (following, end) if isinstance(node.op, ast.And) else (end, following)
                test = self._let(f"icmp ne i64 {value}, 0")
                self._add(f"br i1 {test}, label %{yes}, label %{no}")
                self._begin(following)
        self._begin(end)
        return self._let(f"load i64, ptr {slot}")

    def _truth(self, node: ast.expr) -> str:
        """The value, 0 or 1, of a condition."""
        slot, yes, no, end = self._slot(), self._label(), self._label(), self._label()
        self._branch(node, yes, no)
        for label, value in ((yes, 1), (no, 0)):
            self._begin(label)
            self._add(f"store i64 {value}, ptr {slot}")
            self._go(end)
        self._begin(end)
        return self._let(f"load i64, ptr {slot}")

    def _branch(self, node: ast.expr, yes: str, no: str) -> None:
        """Go on at one of two labels, by the truth of an expression."""
        if isinstance(node, ast.BoolOp):
            for part in node.values[:-1]:
                following = self._label()
                if isinstance(node.op, ast.And):
                    self._branch(part, following, no)
                else:
                    self._branch(part, yes, following)
                self._begin(following)
            self._branch(node.values[-1], yes, no)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self._branch(node.operand, no, yes)
        elif isinstance(node, ast.Compare):
            self._compare(node, yes, no)
        else:
            test = self._let(f"icmp ne i64 {self._value(node)}, 0")
            self._add(f"br i1 {test}, label %{yes}, label %{no}")

    def _compare(self, node: ast.Compare, yes: str, no: str) -> None:
        """The branch of a chain of comparisons, or of a test for membership in a few numbers."""
        left = self._value(node.left)
        pairs = list(zip(node.ops, node.comparators, strict=True))
        if isinstance(pairs[0][0], ast.In) and len(pairs) == 1 and isinstance(pairs[0][1], ast.Tuple):
            for value in [self._value(part) for part in pairs[0][1].elts]:
                following = self._label()
                test = self._let(f"icmp eq i64 {left}, {value}")
                self._add(f"br i1 {test}, label %{yes}, label %{following}")
                self._begin(following)
            self._go(no)
            return
        for place, (operator, comparator) in enumerate(pairs):
            following = yes if place == len(pairs) - 1 else self._label()
            left = self._test(node, operator, left, comparator, following, no)
            if following != yes:
                self._begin(following)

    def _test(
        self, node: ast.Compare, operator: ast.cmpop, left: str, right: ast.expr, yes: str, no: str
    ) -> str:
        """The branch of one comparison; its right value."""
        if type(operator) not in COMPARISON:
            raise self._refused(node)
        value = self._value(right)
        test = self._let(f"icmp {COMPARISON[type(operator)]} i64 {left}, {value}")
        self._add(f"br i1 {test}, label %{yes}, label %{no}")
        return value
