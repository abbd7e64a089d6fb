"""Messages for an expression that Python asks for its truth value: the code that asks, and its replacement.

Python asks for many reasons: `and`, `not`, chained comparisons, `if`, `in`, `max`. The instruction that asks
and the source, if there is one, tell which; the message then repeats the code in constrint's form.
"""

from __future__ import annotations

import ast
import dis
import linecache
from types import FrameType

MOST_SOURCE = 2_000_000  # characters of a file that are parsed for a message
_FUNCTIONS = {"max": "max_", "min": "min_", "any": "any_of", "all": "all_of", "sum": "sum_"}
_BITS = {ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}
_SIMPLE = (ast.Name, ast.Call, ast.Attribute, ast.Subscript, ast.Constant)
_GENERAL = (
    ". Instead of `a <= x <= b` write `(a <= x) & (x <= b)`; instead of `and`, `or`, `not` write `&`, `|`, "
    "`~`; instead of `if condition: …` write `condition.implies(…)`; instead of `x in values` write "
    "`x.is_in(values)`; instead of max, min, any, all write max_, min_, any_of, all_of"
)


def truth_message(frame: FrameType | None) -> str:
    """The message for a truth value that the code of this frame asks for."""
    found = None if frame is None or "site-packages" in frame.f_code.co_filename else _instead(frame)
    return "an expression has no truth value while the model is being built" + (found or _GENERAL)


def _instead(frame: FrameType) -> str | None:
    """The code to write in place of the code that runs; None where that cannot be told."""
    path = _path(frame)
    if path is None:
        return None
    node = path[-1]
    asks = dis.opname[frame.f_code.co_code[frame.f_lasti]]
    if isinstance(node, ast.Call):
        return _of_call(node)
    if isinstance(node, ast.Compare) and asks in ("CONTAINS_OP", "COMPARE_OP"):
        return _of_values(node)
    if isinstance(node, ast.BoolOp):
        sign = " & " if isinstance(node.op, ast.And) else " | "
        return _told(node, sign.join(map(_in_brackets, node.values)))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return _told(node, f"~{_in_brackets(node.operand)}")
    if isinstance(node, ast.Compare) and len(node.ops) > 1:
        sides = [node.left, *node.comparators]
        bit = _BITS.get(type(sides[1].op)) if len(sides) == 3 and isinstance(sides[1], ast.BinOp) else None
        if bit is not None:  # `x == 1 & y == 2`: the operator binds more tightly than the comparisons
            left = ast.Compare(sides[0], node.ops[:1], [sides[1].left])  # type: ignore[attr-defined] # seen above
            right = ast.Compare(sides[1].right, node.ops[1:], sides[2:])  # type: ignore[attr-defined]
            return _told(node, f"{_in_brackets(left)} {bit} {_in_brackets(right)}")
        parts = [
            ast.Compare(left, [sign], [right])
            for left, sign, right in zip(sides, node.ops, sides[1:], strict=False)
        ]
        return _told(node, " & ".join(map(_in_brackets, parts)))
    return _of_test(node, path[-2] if len(path) > 1 else None)


def _path(frame: FrameType) -> list[ast.AST] | None:
    """The nodes around the instruction that runs, the innermost last."""
    lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)
    places = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    if not lines or None in places or sum(map(len, lines)) > MOST_SOURCE:
        return None
    first, last, begin, end = (place or 0 for place in places)
    wanted = (first, begin), (last, end)
    try:
        node: ast.AST = ast.parse("".join(lines))
    except (SyntaxError, ValueError, RecursionError):
        return None
    path = [node]
    while True:
        inner = next((one for one in _parts(node) if _spans(one, wanted)), None)
        if inner is None:
            return path if isinstance(node, ast.expr) else None
        path.append(inner)
        node = inner


def _parts(node: ast.AST) -> list[ast.AST]:
    """Its children that have places, those of comprehensions and the like included."""
    found: list[ast.AST] = []
    for one in ast.iter_child_nodes(node):
        found += [one] if hasattr(one, "lineno") else _parts(one)
    return found


def _spans(node: ast.AST, wanted: tuple[tuple[int, int], tuple[int, int]]) -> bool:
    line, column = node.lineno, node.col_offset  # type: ignore[attr-defined] # `_parts` asks for them
    ends = node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]
    return (line, column) <= wanted[0] and wanted[1] <= ends


def _of_call(node: ast.Call) -> str | None:
    name = ast.unparse(node.func)
    if name in ("sorted", "list.sort") or name.endswith(".sort"):
        order = "After solving, sort `result[…]`; `increasing(…)` asks for an order"
        return f": `{_short(node)}` needs values. {order}"
    if name not in _FUNCTIONS:
        return None
    given = [*map(ast.unparse, node.args), *(f"{one.arg}={ast.unparse(one.value)}" for one in node.keywords)]
    return _told(node, f"{_FUNCTIONS[name]}({', '.join(given)})")


def _of_values(node: ast.Compare) -> str | None:
    """The code in place of a membership, or of lists that Python compares by their members."""
    left, right, sign = node.left, node.comparators[0], node.ops[0]
    if isinstance(sign, ast.In | ast.NotIn):
        wanted = f"{_in_brackets(left, _SIMPLE[:-1])}.is_in({ast.unparse(right)})"
        if isinstance(left, ast.Constant):
            wanted = f"any_of(one == {ast.unparse(left)} for one in {ast.unparse(right)})"
        return _told(node, wanted if isinstance(sign, ast.In) else f"~{wanted}")
    if isinstance(sign, ast.Eq):
        return _told(node, f"array({ast.unparse(left)}) == {ast.unparse(right)}")
    if isinstance(sign, ast.NotEq):
        return _told(node, f"any_of(array({ast.unparse(left)}) != {ast.unparse(right)})")
    return _told(node, f"lex_less({ast.unparse(left)}, {ast.unparse(right)})")


def _of_test(node: ast.AST, parent: ast.AST | None) -> str | None:
    condition = _in_brackets(node)
    if isinstance(parent, ast.IfExp) and parent.test is node:
        given = ", ".join(map(ast.unparse, (parent.test, parent.body, parent.orelse)))
        return _told(parent, f"if_then_else({given})")
    if isinstance(parent, ast.Assert):
        return _told(parent, f"m.add({ast.unparse(node)})")
    if isinstance(parent, ast.If | ast.While) and parent.test is node:
        word = "if" if isinstance(parent, ast.If) else "while"
        return f". Instead of `{word} {_short(node)}: …` write `{condition}.implies(…)`"
    return None


def _in_brackets(node: ast.AST, simple: tuple[type, ...] = _SIMPLE) -> str:
    text = ast.unparse(node)
    return text if isinstance(node, simple) else f"({text})"


def _told(node: ast.AST, wanted: str) -> str:
    return f". Instead of `{_short(node)}` write `{wanted if len(wanted) <= 200 else wanted[:199] + '…'}`"


def _short(node: ast.AST) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 100 else text[:99] + "…"
