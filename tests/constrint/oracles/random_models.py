"""Random models for differential tests, with an oracle that shares no code with constrint.

A model has a few variables with small domains and a few constraints from a grammar that covers every operator
of the language: nested, with negative and zero operands, partial functions, Booleans used as numbers, and
named expressions. `RandomModel.text()` writes it in the `.constrint` language with as few brackets as
Python's precedence allows (and sometimes with all), `build()` makes it with Python's operators, and
`RandomModel.solutions()` enumerates its solutions in plain Python arithmetic.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from random_text import write
from random_truth import COMPARISONS, REGISTERED, Assignment, NoValue, Tree, evaluator

from constrint import (
    Domain,
    IntExpr,
    Model,
    all_different,
    ceildiv,
    divides,
    element,
    gcd_,
    if_then_else,
    iff,
    implies,
    lcm_,
    max_,
    min_,
    sum_,
    table,
)
from constrint.expr import BoolConst, Const, IntFunction, as_bool

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
        checks = [evaluator(tree, self.lets) for tree in self.constraints]
        found = []
        for values in itertools.product(*self.domains.values()):
            assignment = dict(zip(self.domains, values, strict=True))
            if all(check(assignment) for check in checks):
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


# ---------------------------------------------------------------- building them with operators


def _registered(function: type[IntFunction]) -> Callable[..., IntExpr]:
    return lambda *operands: function.of(operands)


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
    "sum": sum_,
    "all_different": all_different,
    "if_then_else": if_then_else,
    "ceildiv": ceildiv,
    "divides": divides,
    "and": operator.and_,
    "or": operator.or_,
    "not": operator.invert,
    "->": implies,
    "<->": iff,
    **{name: _registered(function) for name, function in REGISTERED.items()},
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
    if kind == "within":
        return build(operands[0], names).is_in(Domain.of_range(*operands[1:]))
    if kind == "table":
        return table([build(operand, names) for operand in operands[:-1]], operands[-1])
    if kind == "element":
        return element([build(operand, names) for operand in operands[:-1]], build(operands[-1], names))
    if kind == "index":
        return element(operands[0], build(operands[1], names))
    if kind == "chain":
        parts = [build(operand, names) for operand in operands[::2]]
        links = [_BUILD[name](a, b) for name, a, b in zip(operands[1::2], parts, parts[1:], strict=False)]
        return functools.reduce(operator.and_, links)  # type: ignore[no-any-return]
    built: IntExpr = _BUILD[kind](*[build(operand, names) for operand in operands])
    return built


# ---------------------------------------------------------------- drawing them

_CONSTANTS = [-7, -4, -3, -2, -1, 0, 0, 1, 1, 2, 2, 3, 4, 5, 6, 8, 12, 16]
# As often as they should be drawn.
_INTEGER_KINDS = [
    *"++--**%%",
    *("//", "//", "**", "**", "neg", "abs", "min", "max", "gcd", "gcd", "lcm", "ceildiv"),
    *("index", "element", "if_then_else", "if_then_else", "sum", "boolean"),
    *REGISTERED,
]
_BOOLEAN_KINDS = [
    *["compare"] * 5,
    *("divides", "in", "not in", "within", "table", "all_different", "chain", "chain"),
    *("and", "or", "not", "->", "<->", "literal", "guarded", "guarded"),
]


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
        wanted: list[Tree] = [("var", name) for name in names]
        if random.random() < 0.3:
            wanted.insert(random.randint(0, len(wanted)), self.integer(2))
        model.prefer = [(tree, random.choice(["max", "min"])) for tree in wanted]
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
        kind = random.choice(_INTEGER_KINDS)
        if kind == "**":
            return self._power(depth)
        if kind in ("neg", "abs"):
            return (kind, self.integer(depth - 1))
        if kind in ("min", "max", "gcd", "lcm", "sum"):
            return (kind, *(self.integer(depth - 1) for _ in range(random.choice([2, 2, 3]))))
        if kind in REGISTERED:
            fewest, most = REGISTERED[kind].fewest, REGISTERED[kind].most or 3
            return (kind, *(self.integer(depth - 1) for _ in range(random.randint(fewest, most))))
        if kind == "if_then_else" and random.random() < 0.3:
            guard, partial = self._guarded(depth - 1)
            return (kind, guard, partial, self.integer(depth - 1))
        if kind == "if_then_else":
            return (kind, self.boolean(depth - 1), self.integer(depth - 1), self.integer(depth - 1))
        if kind == "index":
            entries = tuple(random.choice(_CONSTANTS) for _ in range(random.randint(1, 6)))
            return ("index", entries, self.integer(depth - 1))
        if kind == "element":
            values = [self.integer(depth - 2) for _ in range(random.randint(1, 4))]
            return ("element", *values, self.integer(depth - 1))
        if kind == "boolean":
            return self.boolean(depth - 1)
        return (kind, self.integer(depth - 1), self.integer(depth - 1))

    def _guarded(self, depth: int) -> tuple[Tree, Tree]:
        """A term that may be undefined, and a condition under which it mostly is not."""
        random = self.random
        operand = self.integer(min(depth - 1, 1))
        kind = random.choice(["//", "%", "%", "ceildiv", "**", "index", "element"])
        if kind in ("index", "element"):
            size = random.randint(1, 4)
            if kind == "index":
                partial: Tree = (kind, tuple(random.choice(_CONSTANTS) for _ in range(size)), operand)
            else:
                partial = (kind, *(self.integer(depth - 2) for _ in range(size)), operand)
            return ("within", operand, 0, size - 1, 1), partial
        if kind == "**":
            operand = self._small_variable()
            return (">=", operand, ("const", 0)), (kind, self.leaf(), operand)
        return ("!=", operand, ("const", 0)), (kind, self.integer(depth - 1), operand)

    def _guarded_condition(self, depth: int) -> Tree:
        """A condition on a term that may be undefined, before or behind its guard, or without one."""
        random = self.random
        guard, partial = self._guarded(depth)
        test: Tree = (random.choice(list(COMPARISONS)), partial, self.integer(min(depth - 1, 1)))
        if random.random() < 0.3:
            test = ("not", test)
        shape = random.choice(["or", "or", "and", "->", "<->", "alone"])
        if shape == "or":
            guard = ("not", guard)
        if shape == "alone":
            return test
        return (shape, guard, test) if random.random() < 0.7 else (shape, test, guard)

    def _power(self, depth: int) -> Tree:
        """A power; exponents of what is no leaf are small, so that values stay printable."""
        random = self.random
        if random.random() < 0.3:
            return ("**", self.integer(min(depth - 1, 1)), ("const", random.choice([-1, 0, 1, 2, 2, 3])))
        exponent = random.choice([("const", random.randint(0, 4)), ("const", 2), self._small_variable()])
        return ("**", self.leaf(), exponent)

    def _small_variable(self) -> Tree:
        small = [name for name, values in self.model.domains.items() if values[-1] <= 6]
        return ("var", self.random.choice(small)) if small else ("const", 3)

    def boolean(self, depth: int) -> Tree:
        """A truth-valued tree."""
        random = self.random
        if depth <= 0:
            return random.choice([self.comparison(0), self.comparison(0), self._literal()])
        kind = random.choice(_BOOLEAN_KINDS)
        if kind == "compare":
            return self.comparison(depth - 1)
        if kind == "divides":
            return (kind, self.integer(depth - 2), self.integer(depth - 1))
        if kind in ("in", "not in"):
            members = tuple(sorted(random.sample(range(-9, 20), random.randint(1, 6))))
            return (kind, self.integer(depth - 1), members)
        if kind == "within":
            lo, hi = (
                random.choice([None, random.randint(-9, 4)]),
                random.choice([None, random.randint(2, 20)]),
            )
            step = random.choice([1, 1, 2, 3, 5]) if lo is not None or hi is not None else 1
            return (kind, self.integer(depth - 1), lo, hi, step)
        if kind == "all_different":
            return (kind, *(self.integer(depth - 1) for _ in range(random.randint(1, 3))))
        if kind == "table":
            width = random.randint(1, 3)
            drawn = {
                tuple(random.choice(_CONSTANTS) for _ in range(width)) for _ in range(random.randint(1, 6))
            }
            return (kind, *(self.integer(depth - 1) for _ in range(width)), tuple(sorted(drawn)))
        if kind == "chain":
            names = [random.choice([*COMPARISONS, "divides"]) for _ in range(random.randint(2, 3))]
            parts: list[Any] = [self.integer(depth - 2)]
            for name in names:
                parts += [name, self.integer(depth - 2)]
            return ("chain", *parts)
        if kind == "not":
            return (kind, self.boolean(depth - 1))
        if kind == "guarded":
            return self._guarded_condition(depth)
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


class StrideGenerator(Generator):
    """Draws models whose first variable has a stride over a range too wide for a set of values."""

    def _domain(self, most: int) -> tuple[str, tuple[int, ...]]:
        if self.model.domains:
            return super()._domain(most)
        size, low = self.random.randint(60, 250), self.random.randint(-200, 60)
        step = self.random.choice([2, 3, 3, 5, 7, 12])
        return "range", tuple(range(low, low + size * step, step))

    def draw(self) -> RandomModel:
        """One model, with equations that a solution satisfies."""
        model = super().draw()
        found = model.solutions()
        solution = self.random.choice(found) if found else {}
        for _ in range(2 if found else 0):
            tree = self.integer(2)
            value = model.value(tree, solution)
            if value is not None:
                model.constraints.append(("==", tree, ("const", value)))
        return model


def draw_stride_model(seed: int) -> RandomModel:
    """The model of a seed whose first variable has a stride over a wide range."""
    return StrideGenerator(Random(seed), max_depth=2, max_assignments=1500).draw()
