"""Expression trees of random models as `.constrint` text, with as few brackets as precedence allows."""

from __future__ import annotations

from typing import Any

from random_truth import REGISTERED

Tree = tuple[Any, ...]
FUNCTIONS = ("abs", "min", "max", "gcd", "lcm", "ceildiv", "all_different", "if_then_else", *REGISTERED)
COMPARED = ("==", "!=", "<", "<=", ">", ">=", "divides", "in", "not in", "within", "chain")

# How tightly each form binds; larger binds tighter. Functions and leaves bind tightest.
_BINDING = {
    "<->": 1,
    "->": 2,
    "or": 3,
    "and": 4,
    "not": 5,
    **dict.fromkeys(COMPARED, 6),
    **dict.fromkeys(["+", "-"], 7),
    **dict.fromkeys(["*", "//", "%"], 8),
    "neg": 9,
    "**": 10,
}
_ATOM = 11


def write(tree: Tree, *, brackets: bool = False) -> str:
    """A tree as `.constrint` text, with the brackets that it needs or with all."""
    return _write(tree, brackets)[0]


def _write(tree: Tree, all_brackets: bool) -> tuple[str, int]:
    kind, *operands = tree
    if kind == "const":
        return str(operands[0]), _ATOM if operands[0] >= 0 else _BINDING["neg"]
    if kind == "truth":
        return "true" if operands[0] else "false", _ATOM
    if kind in ("var", "let"):
        return operands[0], _ATOM
    if kind in FUNCTIONS:
        return f"{kind}({', '.join(write(operand, brackets=all_brackets) for operand in operands)})", _ATOM
    if kind == "index":
        return f"[{', '.join(map(str, operands[0]))}][{write(operands[1], brackets=all_brackets)}]", _ATOM
    plainer = _plainer(kind, operands)
    if plainer is not None:
        return _write(plainer, all_brackets)
    text, binding = _write_operator(kind, operands, all_brackets), _BINDING[kind]
    return (f"({text})", _ATOM) if all_brackets else (text, binding)


def _plainer(kind: str, operands: list[Any]) -> Tree | None:
    """The same in terms that the language has."""
    if kind == "sum":
        tree = operands[0]
        for operand in operands[1:]:
            tree = ("+", tree, operand)
        return tree  # type: ignore[no-any-return]
    if kind == "table":
        rows = None
        for values in operands[-1]:
            row = None
            for operand, value in zip(operands[:-1], values, strict=True):
                equal = ("==", operand, ("const", value))
                row = equal if row is None else ("and", row, equal)  # type: ignore[assignment]
            rows = row if rows is None else ("or", rows, row)  # type: ignore[assignment]
        return rows
    if kind == "element":
        *values, index = operands
        inside = ("index", tuple(range(len(values))), index)
        tree = values[-1]
        for i in range(len(values) - 2, -1, -1):
            tree = ("if_then_else", ("==", inside, ("const", i)), values[i], tree)
        for strict in (inside, *values):  # undefined where one of them is
            tree = ("+", tree, ("*", ("const", 0), strict))
        return tree  # type: ignore[no-any-return]
    return None


def _range(lo: int | None, hi: int | None, step: int) -> str:
    return f"{'' if lo is None else lo}..{'' if hi is None else hi}" + (f" step {step}" if step > 1 else "")


def _write_operator(kind: str, operands: list[Any], all_brackets: bool) -> str:
    level = _BINDING[kind]

    def part(tree: Tree, least: int) -> str:
        text, binding = _write(tree, all_brackets)
        return text if binding >= least else f"({text})"

    if kind in ("in", "not in"):
        return f"{part(operands[0], level + 1)} {kind} {{{', '.join(map(str, operands[1]))}}}"
    if kind == "within":
        return f"{part(operands[0], level + 1)} in {_range(*operands[1:])}"
    if kind == "chain":
        return " ".join(op if isinstance(op, str) else part(op, level + 1) for op in operands)
    if kind == "neg":
        return f"-{part(operands[0], level)}"
    if kind == "not":
        return f"not {part(operands[0], level)}"
    left, right = operands
    if kind == "**":
        return f"{part(left, _ATOM)} ** {part(right, _BINDING['neg'])}"
    if kind == "->":
        return f"{part(left, level + 1)} -> {part(right, level)}"
    if kind == "*" and "%" in _unbracketed_product(left):
        return f"({part(left, 0)}) * {part(right, level + 1)}"
    chains = kind in ("+", "-", "*", "//", "%", "and", "or", "<->")
    return f"{part(left, level if chains else level + 1)} {kind} {part(right, level + 1)}"


def _unbracketed_product(tree: Tree) -> set[str]:
    """The operators of a product's left spine: `a % b * c` needs brackets here, though not in Python."""
    kinds = set()
    while tree[0] in ("*", "//", "%"):
        kinds.add(tree[0])
        tree = tree[1]
    return kinds
