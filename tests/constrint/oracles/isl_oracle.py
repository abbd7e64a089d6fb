"""Presburger models (linear terms, divisions by constants, any nesting of conditions) counted by isl."""

from __future__ import annotations

from random import Random

import islpy
from random_models import RandomModel
from random_truth import COMPARISONS, Assignment, Tree


class PresburgerGenerator:
    """Draws models whose domains are too wide for brute force."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.names: list[str] = []

    def draw(self) -> RandomModel:
        """One model."""
        random = self.random
        model = RandomModel({}, {})
        self.names = ["x", "y", "z"][: random.choice([2, 2, 3])]
        for name in self.names:
            lowest = random.choice([0, 0, 1, -30, -8])
            step = random.choice([1, 1, 1, 2, 3])
            width = random.randint(1, 60 if len(self.names) == 2 else 14)
            model.domains[name] = tuple(range(lowest, lowest + step * width, step))
            model.styles[name] = "range"
        for _ in range(random.randint(1, 3)):
            model.constraints.append(self.condition(random.randint(0, 2)))
        model.prefer = [(("var", name), "min") for name in self.names]
        return model

    def linear(self) -> Tree:
        """A sum of a few multiples."""
        random = self.random
        tree: Tree = ("*", ("const", random.choice([1, 1, 2, 3, 5, -1, -2, -7, 12])), self.atom())
        for _ in range(random.randint(0, 2)):
            part = ("*", ("const", random.choice([1, 1, 2, 4, 6, 15])), self.atom())
            tree = (random.choice(["+", "-"]), tree, part)
        return tree

    def atom(self) -> Tree:
        random = self.random
        variable = ("var", random.choice(self.names))
        if random.random() < 0.75:
            return variable
        divisor = ("const", random.choice([2, 3, 4, 5, 7, 16]))
        return (random.choice(["//", "%"]), ("+", variable, ("const", random.randint(-4, 9))), divisor)

    def condition(self, depth: int) -> Tree:
        """A comparison, a divisibility, or several joined."""
        random = self.random
        if depth <= 0:
            if random.random() < 0.35:
                return ("divides", ("const", random.choice([2, 3, 4, 6, 10, 12])), self.linear())
            return (random.choice(list(COMPARISONS)), self.linear(), ("const", random.randint(-40, 120)))
        kind = random.choice(["and", "or", "not", "->", "<->", "or", "->"])
        if kind == "not":
            return (kind, self.condition(depth - 1))
        return (kind, self.condition(depth - 1), self.condition(depth - 1))


def isl_set(model: RandomModel) -> islpy.Set:
    """The solutions as an isl set."""
    parts = []
    for name, values in model.domains.items():
        step = values[1] - values[0] if len(values) > 1 else 1
        parts.append(f"{values[0]} <= {name} <= {values[-1]} and ({name} - {values[0]}) mod {step} = 0")
    parts += [_condition(tree) for tree in model.constraints]
    return islpy.Set(f"{{ [{', '.join(model.domains)}] : {' and '.join(parts)} }}")


def isl_answers(model: RandomModel) -> tuple[int, Assignment | None]:
    """How many solutions there are, and the lexicographically least."""
    solutions = isl_set(model)
    if solutions.is_empty():
        return 0, None
    point = solutions.lexmin().sample_point()
    place = islpy.dim_type.set
    least = {name: point.get_coordinate_val(place, i).to_python() for i, name in enumerate(model.domains)}
    return solutions.count_val().to_python(), least


def _condition(tree: Tree) -> str:
    kind, *operands = tree
    if kind in COMPARISONS:
        left, right = (_integer(operand) for operand in operands)
        return f"({left} {'=' if kind == '==' else kind} {right})"
    if kind == "divides":
        return f"(({_integer(operands[1])}) mod {operands[0][1]} = 0)"
    first, *rest = (_condition(operand) for operand in operands)
    if kind == "not":
        return f"(not {first})"
    second = rest[0]
    if kind == "->":
        return f"((not {first}) or {second})"
    if kind == "<->":
        return f"(({first} and {second}) or ((not {first}) and (not {second})))"
    return f"({first} {kind} {second})"


def _integer(tree: Tree) -> str:
    kind, *operands = tree
    if kind in ("const", "var"):
        return str(operands[0])
    if kind == "*":
        return f"({operands[0][1]} * {_integer(operands[1])})"
    left, right = (_integer(operand) for operand in operands)
    if kind == "//":
        return f"floor({left}/{operands[1][1]})"
    if kind == "%":
        return f"({left} mod {operands[1][1]})"
    return f"({left} {kind} {right})"
