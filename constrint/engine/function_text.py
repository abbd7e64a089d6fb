"""One compilable function as the text of LLVM's intermediate language."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING

from constrint.engine.expression_text import Cells, ExpressionText
from constrint.errors import InternalError

if TYPE_CHECKING:
    from constrint.engine.translation import TranslationUnit


class FunctionText(ExpressionText):
    """The text of a function.

    Args:
        program: What it is a part of.
        function: The function.
        heading: Linkage and name.

    Attributes:
        text: Its definition.
    """

    def __init__(self, program: TranslationUnit, function: Callable[..., object], heading: str) -> None:
        super().__init__(program, function)
        self._loops: list[tuple[str, str]] = []  # where `continue` and `break` go
        (node,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
        if not isinstance(node, ast.FunctionDef):
            raise InternalError(f"{function.__name__} is not a function that can be compiled")
        given = node.args
        for other in (*given.defaults, *given.posonlyargs, *given.kwonlyargs, given.vararg, given.kwarg):
            if other is not None:
                raise self._refused(other)
        parameters = [self._parameter(argument) for argument in given.args]
        self._block(node.body)
        if self._is_open:
            self._add("ret i64 0")
        head = f"define {heading.replace('@', 'i64 @')}({', '.join(parameters)}) nounwind {{"
        self.text = "\n".join([head, *self._slots, *self._lines, "}"])

    def _block(self, nodes: list[ast.stmt]) -> None:
        for node in nodes:
            if not self._is_open:
                return  # nothing comes here
            self._statement(node)

    def _statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            self._assign(node, node.targets[0], node.value)
        elif isinstance(node, ast.AugAssign):
            self._change(node)
        elif isinstance(node, ast.If):
            self._if(node)
        elif isinstance(node, ast.While) and not node.orelse:
            self._while(node)
        elif isinstance(node, ast.For) and not node.orelse:
            self._for(node)
        elif isinstance(node, ast.Return):
            self._add(f"ret i64 {'0' if node.value is None else self._value(node.value)}")
        elif isinstance(node, ast.Break):
            self._add(f"br label %{self._loops[-1][1]}")
        elif isinstance(node, ast.Continue):
            self._add(f"br label %{self._loops[-1][0]}")
        elif isinstance(node, ast.Expr):
            if not isinstance(node.value, ast.Constant):
                self._value(node.value)
        else:
            raise self._refused(node)

    def _assign(self, node: ast.Assign, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            values = [self._value(part) for part in value.elts]
            for part, operand in zip(target.elts, values, strict=True):
                self._store(part, operand)
        elif isinstance(target, ast.Name) and isinstance(value, ast.Attribute):
            address, length, field = self._array(value)
            known = self._cells.get(target.id)
            if target.id in self._integers or (known is not None and known.field != field):
                raise self._refused(node)
            if known is None:
                known = self._cells[target.id] = Cells(self._slot("ptr", "null"), self._slot(), field)
            self._add(f"store ptr {address}, ptr {known.address}")
            self._add(f"store i64 {length}, ptr {known.length}")
        else:
            self._store(target, self._value(value))

    def _store(self, target: ast.expr, operand: str) -> None:
        if isinstance(target, ast.Name):
            self._add(f"store i64 {operand}, ptr {self._variable(target)}")
        elif isinstance(target, ast.Subscript):
            at, note = self._cell(target)
            self._add(f"store i64 {operand}, ptr {at}, !tbaa {note}")
        else:
            raise self._refused(target)

    def _change(self, node: ast.AugAssign) -> None:
        """An assignment such as ``x += 1``; the place is determined once."""
        if isinstance(node.target, ast.Subscript):
            at, note = self._cell(node.target)
            old = self._let(f"load i64, ptr {at}, !tbaa {note}")
            new = self._operation(node, node.op, old, self._value(node.value))
            self._add(f"store i64 {new}, ptr {at}, !tbaa {note}")
        elif isinstance(node.target, ast.Name):
            old = self._named(node.target)
            self._store(node.target, self._operation(node, node.op, old, self._value(node.value)))
        else:
            raise self._refused(node)

    def _if(self, node: ast.If) -> None:
        yes, no, end = self._label(), self._label(), self._label()
        self._branch(node.test, yes, no)
        reached = False
        for label, block in ((yes, node.body), (no, node.orelse)):
            self._begin(label)
            self._block(block)
            reached |= self._is_open
            self._go(end)
        if reached:
            self._begin(end)

    def _while(self, node: ast.While) -> None:
        head, body, end = self._label(), self._label(), self._label()
        self._begin(head)
        self._branch(node.test, body, end)
        self._begin(body)
        self._loops.append((head, end))
        self._block(node.body)
        self._loops.pop()
        self._go(head)
        self._begin(end)

    def _for(self, node: ast.For) -> None:
        """A loop over a range whose step is a known number."""
        call = node.iter
        if not (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Name)
            and call.func.id == "range"
            and isinstance(node.target, ast.Name)
            and 1 <= len(call.args) <= 3
            and not call.keywords
        ):
            raise self._refused(node)
        step = int(self._step(call.args[2])) if len(call.args) == 3 else 1
        if step == 0:
            raise self._refused(node)
        first = self._value(call.args[0]) if len(call.args) > 1 else "0"
        last = self._value(call.args[min(1, len(call.args) - 1)])
        counter, slot = self._slot(), self._variable(node.target)
        self._add(f"store i64 {first}, ptr {counter}")
        head, body, following, end = self._label(), self._label(), self._label(), self._label()
        self._begin(head)
        at = self._let(f"load i64, ptr {counter}")
        test = self._let(f"icmp {'slt' if step > 0 else 'sgt'} i64 {at}, {last}")
        self._add(f"br i1 {test}, label %{body}, label %{end}")
        self._begin(body)
        self._add(f"store i64 {at}, ptr {slot}")
        self._loops.append((following, end))
        self._block(node.body)
        self._loops.pop()
        self._begin(following)
        more = self._let(f"add i64 {at}, {step}")
        self._add(f"store i64 {more}, ptr {counter}")
        self._go(head)
        self._begin(end)

    def _step(self, node: ast.expr) -> str:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return f"-{self._step(node.operand)}"
        value = node.value if isinstance(node, ast.Constant) else self._globals.get(ast.unparse(node))
        return self._constant(node, value)
