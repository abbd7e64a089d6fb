"""The equations of a cell, one after the other: names, and the values that expressions stand for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kerneltune.cells.functions import FUNCTIONS
from kerneltune.cells.graph import Graph, Node
from kerneltune.cells.syntax import Source, parsed
from kerneltune.errors import InputError, nearest

LARGEST_FLOAT32 = 3.4e38
"""The largest number of float32, in which steps are computed."""
LARGEST_POWER = 16
"""The largest exponent: it takes at most six products."""
PARTS = {"W": "input", "R": "product"}


@dataclass
class Expressions:
    """Names and their values while the equations are read.

    Attributes:
        source: The text, for errors.
        gates: The declared names, here and in the next three.
        states: R is multiplied with the first.
        weights: Of each unit.
        options: Numbers by name.
        places: Where names are declared.
        lines: The line of each equation by the name it gives.
        learnable: Options that are learnt: behind the weights of units, or the gates.
        learned_as: The kind of leaf that they are, `weight` or `input`.
        graph: The values.
        made: Values by the names that equations gave them.
        new: The states after the step.
        labels: Names of values.
    """

    source: Source
    gates: tuple[str, ...]
    states: tuple[str, ...]
    weights: tuple[str, ...]
    options: Mapping[str, float]
    places: Mapping[str, object]
    lines: Mapping[str, int]
    learnable: tuple[str, ...] = ()
    learned_as: str = "weight"
    graph: Graph = field(default_factory=Graph)
    made: dict[str, Node] = field(default_factory=dict)
    new: dict[str, Node] = field(default_factory=dict)
    labels: dict[Node, str] = field(default_factory=dict)
    _used: set[str] = field(default_factory=set)
    _made_at: dict[str, object] = field(default_factory=dict)
    _has_slope: bool = False

    def assign(self, tree: Any) -> None:
        """Read an equation."""
        target, expression, slope = tree.children
        name = str(target)
        self._check_target(target, name)
        if slope is None:
            value = self._value(expression)
        else:
            value = self._with_slope(expression, slope)
        self.labels.setdefault(value, name)
        if name.endswith("'"):
            self.new[name[:-1]] = value
        else:
            self.made[name] = value
            self._made_at[name] = target

    def value(self, source: Source) -> Node:
        """The value of another expression, in the words that are known after the last equation."""
        inside = replace(self, source=source)
        inside._has_slope = True  # a saved value needs no derivative
        return inside._value(parsed(source, "sum"))

    def check_all_used(self) -> None:
        """Raise `InputError` for a state that is never written and for names that are never used."""
        for state in self.states:
            if state not in self.new:
                problem = f"the state '{state}' is never written: an equation {state}' = … is missing"
                raise self.source.error(self.places[state], problem)
        for kind, names in (("gate", self.gates), ("weight", self.weights), ("option", self.options)):
            for name in names:
                if name not in self._used:
                    raise self.source.error(self.places[name], f"the {kind} '{name}' is never used")
        for name, place in self._made_at.items():
            if f"={name}" not in self._used:
                raise self.source.error(place, f"the value '{name}' is never used")

    def _check_target(self, target: object, name: str) -> None:
        problem = None
        if name.endswith("'"):
            if name[:-1] not in self.states:
                problem = f"'{name[:-1]}' is not a state: {nearest(name[:-1], self.states)}"
            elif name[:-1] in self.new:
                problem = f"'{name}' is assigned twice"
        elif name in self.made:
            problem = f"'{name}' is assigned twice: give the second value a name of its own"
        elif name in self.states:
            problem = f"'{name}' is the state before the step: the state after it is {name}'"
        elif name in self.weights or name in self.options:
            kind = "a weight" if name in self.weights else "an option"
            problem = f"'{name}' is {kind}, which is not assigned"
        elif name in FUNCTIONS or name in PARTS:
            problem = f"'{name}' is a word of the language: choose another name"
        if problem:
            raise self.source.error(target, problem)

    def _with_slope(self, expression: object, slope: object) -> Node:
        """A value whose derivative by the one name in it is given."""
        names = sorted({str(one) for one in _names_in(expression)} - set(self.options))
        if len(names) != 1:
            listed = ", ".join(names) or "none"
            problem = f"an equation with a slope depends on one name, by which the slope is: here {listed}"
            raise self.source.error(expression, problem)
        self._has_slope = True
        value = self._value(expression)
        self._has_slope = False
        argument = self._named(next(iter(_names_in(expression, set(self.options)))))
        return self.graph.apply("surrogate", value, argument, self._value(slope))

    def _value(self, tree: object) -> Node:
        made = self._made(tree)
        if made.op == "constant" and abs(made.value) > LARGEST_FLOAT32:
            raise self.source.error(tree, "this number is too large for float32")
        return made

    def _made(self, tree: Any) -> Node:
        kind, parts = tree.data, tree.children
        if kind == "constant":
            return self.graph.constant(float(parts[0]))
        if kind in ("name", "new", "part"):
            return self._named(parts[0])
        if kind == "call":
            return self._call(tree)
        if kind == "power":
            return self._power(tree)
        if kind == "comparison":
            raise self.source.error(tree, "a comparison stands only in where(CONDITION, VALUE, VALUE)")
        operands = [self._value(one) for one in parts]
        made: Node = getattr(self.graph, kind)(*operands)
        if made.op == "div" and made.args[1].op == "constant":
            raise self.source.error(tree, "this is a division by zero")
        return made

    def _named(self, token: object) -> Node:
        name = str(token)
        if "." in name:
            return self._part(token, *name.split("."))
        if name.endswith("'"):
            if name[:-1] in self.new:
                return self.new[name[:-1]]
            raise self._unknown(token, name)
        if name in self.made:
            self._used.add(f"={name}")
            return self.made[name]
        self._used.add(name)
        if name in self.gates:
            return self.graph.leaf("total", self.gates.index(name))
        if name in self.states:
            return self.graph.leaf("before", self.states.index(name))
        if name in self.weights:
            return self.graph.leaf("weight", self.weights.index(name))
        if name in self.learnable:
            return self.graph.leaf(*self._learnable_leaf(name))
        if name in self.options:
            return self.graph.constant(self.options[name])
        raise self._unknown(token, name)

    def _learnable_leaf(self, name: str) -> tuple[str, int]:
        ahead = self.weights if self.learned_as == "weight" else self.gates
        return self.learned_as, len(ahead) + self.learnable.index(name)

    def _part(self, token: object, matrix: str, gate: str) -> Node:
        if matrix not in PARTS:
            raise self.source.error(
                token, f"unknown part '{token}': a gate has the parts W.{gate} and R.{gate}"
            )
        if matrix == "R" and gate in self.states and gate not in self.gates:
            problem = (
                f"R is multiplied with {self.states[0]} before the step alone, as R.GATE says: a product "
                f"with '{gate}', as LEM has one with another state, is beyond the cells here"
            )
            raise self.source.error(token, problem)
        if gate not in self.gates:
            raise self.source.error(token, f"'{gate}' is not a gate: {nearest(gate, self.gates)}")
        self._used.add(gate)
        return self.graph.leaf(PARTS[matrix], self.gates.index(gate))

    def _unknown(self, token: object, name: str) -> InputError:
        if name in self.lines:
            problem = f"'{name}' is used before the equation that makes it, in line {self.lines[name]}"
        elif name[:-1] in self.states and name.endswith("'"):
            problem = f"'{name}' is used, but never written: an equation {name} = … is missing"
        elif name.endswith("'"):
            problem = f"'{name[:-1]}' is not a state: {nearest(name[:-1], self.states)}"
        elif name == "b":
            problem = "unknown name 'b': the bias is in a gate's name and in R.GATE already"
        elif name in FUNCTIONS:
            problem = f"'{name}' is a function: write {name}(…)"
        elif name in PARTS:
            problem = f"'{name}' is a matrix: write {name}.GATE for the part of a gate"
        else:
            known = [*self.made, *self.gates, *self.states, *self.weights, *self.options]
            problem = f"unknown name '{name}': {nearest(name, known)}"
        return self.source.error(token, problem)

    def _call(self, tree: Any) -> Node:
        token, *arguments = tree.children
        name = str(token)
        if name not in FUNCTIONS:
            problem = f"unknown function '{name}', or one without a derivative: {nearest(name, FUNCTIONS)}"
            raise self.source.error(token, problem)
        function = FUNCTIONS[name]
        if not function.least <= len(arguments) <= function.most:
            wanted = f"{function.least}" if function.least == function.most else f"{function.least} or more"
            raise self.source.error(token, f"{name} takes {wanted} arguments, not {len(arguments)}")
        if function.flat and not self._has_slope:
            raise self._flat(token, f"{name}(x)")
        if name == "where":
            return self._where(token, arguments)
        made: Node = function.build(self.graph, *map(self._value, arguments))
        return made

    def _where(self, token: Any, arguments: list[Any]) -> Node:
        condition, *branches = arguments
        if condition.data != "comparison":
            raise self.source.error(condition, "where begins with a comparison, as in where(x > 0, x, 0)")
        left, sign, right = condition.children
        if str(sign) in ("==", "!="):
            raise self.source.error(
                sign, "numbers are compared by <, <=, > or >=, since rounding decides on equality"
            )
        a, b = self._value(left), self._value(right)
        if str(sign) in ("<", "<="):
            a, b = b, a
        met = self.graph.apply("greater" if str(sign) in ("<", ">") else "at_least", a, b)
        first, second = map(self._value, branches)
        if first.op == second.op == "constant" and not self._has_slope:
            raise self._flat(token, "where(…) of two numbers")
        return self.graph.apply("select", met, first, second)

    def _flat(self, token: object, what: str) -> InputError:
        problem = (
            f"{what} has no derivative but 0: give the one to train with, NAME = EXPRESSION slope EXPRESSION"
        )
        return self.source.error(token, problem)

    def _power(self, tree: Any) -> Node:
        base, exponent = map(self._value, tree.children)
        number = exponent.value
        if exponent.op == "constant" and number == 0.5:
            return self.graph.apply("sqrt", base)
        if exponent.op != "constant" or number != math.floor(number) or abs(number) > LARGEST_POWER:
            problem = f"an exponent is a whole number up to {LARGEST_POWER}, or 0.5"
            raise self.source.error(tree.children[1], f"{problem}: any other power is exp(y * log(x))")
        return self.graph.power(base, int(number))


def _names_in(tree: Any, without: set[str] | None = None) -> Iterator[Any]:
    for one in tree.iter_subtrees():
        if one.data in ("name", "new", "part") and str(one.children[0]) not in (without or ()):
            yield one.children[0]
