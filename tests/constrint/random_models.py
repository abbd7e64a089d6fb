"""Random models for differential tests, with a definition of truth that shares no code with constrint.

A model is a few variables with small domains and a few constraints drawn from a grammar that reaches every
operator of the language: nested, with negative and zero operands, partial functions, booleans used as numbers
and named expressions. `RandomModel.text()` writes it in the `.constrint` language with as few brackets as
Python's precedence needs (and sometimes with all), `build()` makes it with Python's operators, and
`RandomModel.solutions()` enumerates its solutions by plain Python arithmetic.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from constrint import IntExpr, Model, ceildiv, divides, element, gcd_, iff, implies, lcm_, max_, min_
from constrint.expr import BoolConst, Const, as_bool

Tree = tuple[Any, ...]
"""An operator's name and its operands; ("const", 3), ("var", "x") and ("let", "t") are the leaves."""
Assignment = dict[str, int]
Evaluator = Callable[[Assignment], int]


class NoValue(Exception):
    """A subexpression is undefined: the assignment is no solution, wherever the subexpression stands."""


# ---------------------------------------------------------------- the definition of truth

COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _floordiv(a: int, b: int) -> int:
    if b == 0:
        raise NoValue
    return a // b


def _mod(a: int, b: int) -> int:
    if b == 0:
        raise NoValue
    return a % b


def _power(a: int, b: int) -> int:
    if b < 0:
        raise NoValue
    return int(a**b)


def _index(values: tuple[int, ...], k: int) -> int:
    if not 0 <= k < len(values):
        raise NoValue
    return values[k]


def _divides(d: int, x: int) -> int:
    return int(x == 0 if d == 0 else x % d == 0)


BINARY: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": _floordiv,
    "%": _mod,
    "**": _power,
    "ceildiv": lambda a, b: -_floordiv(-a, b),
    "gcd": math.gcd,
    "lcm": math.lcm,
    "divides": _divides,
    "and": operator.and_,
    "or": operator.or_,
    "->": lambda a, b: int(not a or b),
    "<->": lambda a, b: int(a == b),
    **{name: (lambda compare: lambda a, b: int(compare(a, b)))(f) for name, f in COMPARISONS.items()},
}
UNARY: dict[str, Callable[[int], int]] = {"neg": operator.neg, "abs": abs, "not": lambda a: 1 - a}
MANY: dict[str, Callable[..., int]] = {"min": min, "max": max}


def evaluator(tree: Tree, lets: dict[str, Tree]) -> Evaluator:
    """The value of a tree as a function of the variables; raises `NoValue` where it has none."""
    kind, *operands = tree
    if kind in ("const", "truth"):
        value = int(operands[0])
        return lambda assignment: value
    if kind == "var":
        name = operands[0]
        return lambda assignment: assignment[name]
    if kind == "let":
        return evaluator(lets[operands[0]], lets)
    if kind in ("in", "not in"):
        inner, members = evaluator(operands[0], lets), frozenset(operands[1])
        return lambda assignment: int((inner(assignment) in members) == (kind == "in"))
    if kind == "index":
        table, inner = operands[0], evaluator(operands[1], lets)
        return lambda assignment: _index(table, inner(assignment))
    if kind == "chain":
        return _chain_evaluator(operands, lets)
    parts = [evaluator(operand, lets) for operand in operands]
    if kind in UNARY:
        unary, only = UNARY[kind], parts[0]
        return lambda assignment: unary(only(assignment))
    if kind in MANY:
        many = MANY[kind]
        return lambda assignment: many([part(assignment) for part in parts])
    binary, (left, right) = BINARY[kind], parts
    return lambda assignment: binary(left(assignment), right(assignment))


def _chain_evaluator(operands: list[Any], lets: dict[str, Tree]) -> Evaluator:
    comparisons = [BINARY[name] for name in operands[1::2]]
    parts = [evaluator(operand, lets) for operand in operands[::2]]

    def evaluate(assignment: Assignment) -> int:
        values = [part(assignment) for part in parts]
        return int(all(f(a, b) for f, a, b in zip(comparisons, values, values[1:], strict=False)))

    return evaluate


# ---------------------------------------------------------------- models


@dataclass
class RandomModel:
    """A model as plain data."""

    domains: dict[str, tuple[int, ...]]
    styles: dict[str, str]
    lets: dict[str, Tree] = field(default_factory=dict)
    constraints: list[Tree] = field(default_factory=list)
    objective: Tree = ("const", 0)
    prefer: list[tuple[Tree, str]] = field(default_factory=list)
    extra_brackets: frozenset[int] = frozenset()

    def solutions(self) -> list[Assignment]:
        """All solutions, by enumeration, in lexicographic order of the domains."""
        checks = [evaluator(tree, self.lets) for tree in [*self.lets.values(), *self.constraints]]
        required = len(self.lets)
        found = []
        for values in itertools.product(*self.domains.values()):
            assignment = dict(zip(self.domains, values, strict=True))
            if _holds(checks, required, assignment):
                found.append(assignment)
        return found

    def value(self, tree: Tree, assignment: Assignment) -> int | None:
        """What a tree is worth under an assignment; None where it is undefined."""
        try:
            return evaluator(tree, self.lets)(assignment)
        except NoValue:
            return None

    def text(self) -> str:
        """The model in the `.constrint` language."""
        lines = [self._declaration(name) for name in self.domains]
        lines += [f"{name} := {write(tree)}" for name, tree in self.lets.items()]
        lines += [write(tree, brackets=i in self.extra_brackets) for i, tree in enumerate(self.constraints)]
        return "\n".join(lines) + "\n"

    def build(self) -> Model:
        """The model, made with Python's operators."""
        model = Model("random")
        names: dict[str, IntExpr] = {}
        for name, values in self.domains.items():
            boolean = self.styles[name] == "bool"
            names[name] = model.bool_var(name) if boolean else model.int_var(name, values=values)
        for name, tree in self.lets.items():
            names[name] = model.let(name, build(tree, names))
        for tree in self.constraints:
            model.add(as_bool(build(tree, names)))
        return model

    def _declaration(self, name: str) -> str:
        values = self.domains[name]
        if self.styles[name] == "bool":
            return f"{name} bool"
        if self.styles[name] == "range":
            step = values[1] - values[0] if len(values) > 1 else 1
            return f"{name} in {values[0]}..{values[-1]}" + (f" step {step}" if step != 1 else "")
        return f"{name} in {{{', '.join(map(str, values))}}}"


def _holds(checks: list[Evaluator], lets: int, assignment: Assignment) -> bool:
    try:
        values = [check(assignment) for check in checks]
    except NoValue:
        return False
    return all(values[lets:])


# ---------------------------------------------------------------- building them with operators

_BUILD: dict[str, Callable[..., Any]] = {
    **COMPARISONS,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "neg": operator.neg,
    "abs": abs,
    "min": min_,
    "max": max_,
    "gcd": gcd_,
    "lcm": lcm_,
    "ceildiv": ceildiv,
    "divides": divides,
    "and": operator.and_,
    "or": operator.or_,
    "not": operator.invert,
    "->": implies,
    "<->": iff,
}


def build(tree: Tree, names: Mapping[str, IntExpr]) -> IntExpr:
    """A tree as an expression over these variables and named expressions."""
    kind, *operands = tree
    if kind in ("var", "let"):
        return names[operands[0]]
    if kind == "const":
        return Const(operands[0])
    if kind == "truth":
        return BoolConst(operands[0])
    if kind in ("in", "not in"):
        inside = build(operands[0], names).is_in(operands[1])
        return inside if kind == "in" else ~inside
    if kind == "index":
        return element(operands[0], build(operands[1], names))
    if kind == "chain":
        parts = [build(operand, names) for operand in operands[::2]]
        links = [_BUILD[name](a, b) for name, a, b in zip(operands[1::2], parts, parts[1:], strict=False)]
        return functools.reduce(operator.and_, links)
    built: IntExpr = _BUILD[kind](*[build(operand, names) for operand in operands])
    return built


# ---------------------------------------------------------------- writing them as text

# How tightly each form binds; larger binds tighter. Functions and leaves bind tightest.
_BINDING = {
    "<->": 1,
    "->": 2,
    "or": 3,
    "and": 4,
    "not": 5,
    **dict.fromkeys([*COMPARISONS, "chain", "divides", "in", "not in"], 6),
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
    if kind in ("abs", "min", "max", "gcd", "lcm", "ceildiv"):
        return f"{kind}({', '.join(write(operand, brackets=all_brackets) for operand in operands)})", _ATOM
    if kind == "index":
        return f"[{', '.join(map(str, operands[0]))}][{write(operands[1], brackets=all_brackets)}]", _ATOM
    text, binding = _write_operator(kind, operands, all_brackets), _BINDING[kind]
    return (f"({text})", _ATOM) if all_brackets else (text, binding)


def _write_operator(kind: str, operands: list[Any], all_brackets: bool) -> str:
    level = _BINDING[kind]

    def part(tree: Tree, least: int) -> str:
        text, binding = _write(tree, all_brackets)
        return text if binding >= least else f"({text})"

    if kind in ("in", "not in"):
        return f"{part(operands[0], level + 1)} {kind} {{{', '.join(map(str, operands[1]))}}}"
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


# ---------------------------------------------------------------- drawing them

_CONSTANTS = [-7, -4, -3, -2, -1, 0, 0, 1, 1, 2, 2, 3, 4, 5, 6, 8, 12, 16]


class Generator:
    """Draws models from a seeded source of randomness."""

    def __init__(self, random: Random, *, max_depth: int = 3, max_assignments: int = 300) -> None:
        self.random = random
        self.max_depth = max_depth
        self.max_assignments = max_assignments
        self.model = RandomModel({}, {})

    def draw(self) -> RandomModel:
        """One model."""
        random = self.random
        self.model = model = RandomModel({}, {})
        budget = self.max_assignments
        for name in ["x", "y", "z", "u", "v"][: random.randint(1, 5)]:
            model.styles[name], model.domains[name] = self._domain(min(budget, 40))
            budget //= len(model.domains[name])
            if budget < 2:
                break
        for name in ["s", "t"][: random.choice([0, 0, 0, 1, 2])]:
            tree = self.integer(2)
            model.lets[name] = tree
        for _ in range(random.choice([1, 1, 2, 2, 3, 4])):
            model.constraints.append(self.boolean(random.randint(1, self.max_depth)))
            if random.random() < 0.8 and not model.solutions():
                # Most models should have solutions: a model without any tests little.
                model.constraints.pop()
        model.extra_brackets = frozenset(i for i in range(4) if random.random() < 0.2)
        model.objective = self.integer(2)
        names = random.sample(list(model.domains), random.randint(1, len(model.domains)))
        model.prefer = [(("var", name), random.choice(["max", "min"])) for name in names]
        return model

    def _domain(self, most: int) -> tuple[str, tuple[int, ...]]:
        random = self.random
        style = random.choice(["range", "range", "set", "set", "bool"])
        if style == "bool":
            return style, (0, 1)
        size = random.randint(1, max(1, min(most, random.choice([3, 6, 12, 40]))))
        lowest = random.choice([-20, -9, -5, -3, -1, 0, 0, 1, 2, 7])
        if style == "range":
            step = random.choice([1, 1, 1, 2, 3, 5])
            return style, tuple(range(lowest, lowest + size * step, step))
        spread = range(lowest, lowest + 3 * size + 2)
        return style, tuple(sorted(random.sample(spread, size)))

    def leaf(self) -> Tree:
        random = self.random
        model = self.model
        if model.lets and random.random() < 0.15:
            return ("let", random.choice(list(model.lets)))
        if random.random() < 0.72:
            return ("var", random.choice(list(model.domains)))
        return ("const", random.choice(_CONSTANTS))

    def integer(self, depth: int) -> Tree:
        """An integer-valued tree."""
        random = self.random
        if depth <= 0 or random.random() < 0.12:
            return self.leaf()
        kind = random.choice(
            [
                *"++--**%%",
                "//",
                "//",
                "**",
                "neg",
                "abs",
                "min",
                "max",
                "gcd",
                "lcm",
                "ceildiv",
                "index",
                "boolean",
            ]
        )
        if kind == "**":
            # The base is a leaf and the exponent small, so that values stay printable.
            exponent = random.choice([("const", random.randint(0, 4)), ("const", 2), self._small_variable()])
            return ("**", self.leaf(), exponent)
        if kind in ("neg", "abs"):
            return (kind, self.integer(depth - 1))
        if kind in ("min", "max"):
            return (kind, *(self.integer(depth - 1) for _ in range(random.randint(2, 3))))
        if kind == "index":
            table = tuple(random.choice(_CONSTANTS) for _ in range(random.randint(1, 6)))
            return ("index", table, self.integer(depth - 1))
        if kind == "boolean":
            return self.boolean(depth - 1)
        return (kind, self.integer(depth - 1), self.integer(depth - 1))

    def _small_variable(self) -> Tree:
        small = [name for name, values in self.model.domains.items() if values[-1] <= 6]
        return ("var", self.random.choice(small)) if small else ("const", 3)

    def boolean(self, depth: int) -> Tree:
        """A truth-valued tree."""
        random = self.random
        if depth <= 0:
            return random.choice([self.comparison(0), self.comparison(0), self._literal()])
        kind = random.choice(
            ["compare"] * 5 + ["divides", "in", "not in", "chain", "and", "or", "not", "->", "<->", "literal"]
        )
        if kind == "compare":
            return self.comparison(depth - 1)
        if kind == "divides":
            return (kind, self.integer(depth - 2), self.integer(depth - 1))
        if kind in ("in", "not in"):
            members = tuple(sorted(random.sample(range(-9, 20), random.randint(1, 6))))
            return (kind, self.integer(depth - 1), members)
        if kind == "chain":
            names = [random.choice([*COMPARISONS, "divides"]) for _ in range(random.randint(2, 3))]
            parts: list[Any] = [self.integer(depth - 2)]
            for name in names:
                parts += [name, self.integer(depth - 2)]
            return ("chain", *parts)
        if kind == "not":
            return (kind, self.boolean(depth - 1))
        if kind == "literal":
            return self._literal()
        return (kind, self.boolean(depth - 1), self.boolean(depth - 1))

    def comparison(self, depth: int) -> Tree:
        """Two integer trees compared."""
        return (self.random.choice(list(COMPARISONS)), self.integer(depth), self.integer(depth))

    def _literal(self) -> Tree:
        booleans = [name for name, style in self.model.styles.items() if style == "bool"]
        if booleans and self.random.random() < 0.9:
            return ("var", self.random.choice(booleans))
        return ("truth", self.random.random() < 0.5) if self.random.random() < 0.1 else self.comparison(0)


def draw_model(seed: int, *, max_depth: int = 3, max_assignments: int = 300) -> RandomModel:
    """The model of a seed."""
    return Generator(Random(seed), max_depth=max_depth, max_assignments=max_assignments).draw()
