"""Values of a graph as CUDA expressions and local constants."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from kerneltune.cells.derivation import uses
from kerneltune.cells.expressions import LARGEST_FLOAT32
from kerneltune.cells.graph import CONDITIONS, Node, behind
from kerneltune.errors import InputError

CALLS = {
    "tanh": "Math::tanh",
    "sigmoid": "Math::sigmoid",
    "exp": "Math::exp",
    "log": "Math::log",
    "div": "__fdividef",
    "sqrt": "sqrt_of",
    "erf": "erff",
    "abs": "fabsf",
    "relu": "relu_of",
    "sign": "sign_of",
    "max": "larger_of",
    "min": "smaller_of",
    "tanh_slope": "tanh_slope",
    "sigmoid_slope": "sigmoid_slope",
}
SIMPLE = re.compile(r"[\w.:]+(\[\d+\])?|[\w:]+\([^()]*\)")


class Terms:
    """The lines that compute some results.

    Args:
        results: The results.
        known: Expressions of values that are given.
        labels: Names of values.
        late: The kinds of leaves that a step waits for. A sigmoid of a sum with a product is a Gate then
            (kernels/common/numeric/gate.cuh), which has little behind what is late.
        products: Whether a product with such a sigmoid is one, too.
    """

    def __init__(
        self,
        results: Sequence[Node],
        known: Mapping[Node, str],
        labels: Mapping[Node, str],
        *,
        late: Collection[str] = (),
        products: bool = False,
    ) -> None:
        self._late, self._products = late, products
        self._arrival: dict[Node, int] = {}
        for node in behind(results) if late else ():
            waits = max((self._arrival[arg] for arg in node.args), default=int(node.op in late))
            self._arrival[node] = waits + bool(waits and node.args)
        self._names = dict(known)
        self._labels = labels
        self._uses = uses(results, list(known))
        for node in [one for one in self._uses if one.op == "neg" and one not in self._names]:
            self._uses[node.args[0]] += self._uses[node] - 1  # a negated value has no name of its own
        self.lines: list[str] = []
        in_order = dict.fromkeys(node for one in results for node in behind([one], list(known)))
        for node in in_order:
            if node not in self._names and self._is_named(node):
                kind = "bool" if node.op in CONDITIONS else "float"
                text = self._written(node)
                self._names[node] = self._name(node)
                self.lines.append(f"const {kind} {self._names[node]} = {text};")

    def of(self, node: Node) -> str:
        """The expression of a value."""
        return self._names[node] if node in self._names else self._written(node)

    def _is_named(self, node: Node) -> bool:
        if not node.args:
            return False
        if self._uses[node] > 1:
            return node.op != "neg"
        return node in self._labels and node.op != "mul"

    def _name(self, node: Node) -> str:
        """A name ends in an underscore, so that it is no word of CUDA and no name of the struct."""
        label = self._labels.get(node, f"t{node.index}")
        return f"new_{label[:-1]}_" if label.endswith("'") else f"{label}_"

    def _inside(self, node: Node) -> str:
        """An operand: in brackets unless it is a name or a call."""
        text = self.of(node)
        return text if _is_closed(text) else f"({text})"

    def _written(self, node: Node) -> str:
        if node.op == "constant":
            return _number(node.value)
        if node.op in ("add", "sub"):
            return self._sum(node)
        if node.op == "neg":
            return f"-{self._inside(node.args[0])}"
        if node.op == "mul":
            return self._gate_product(node) or " * ".join(map(self._inside, node.args))
        if node.op == "softplus":
            (x,) = node.args
            is_taken_apart = x.op == "neg" and x not in self._names
            return f"-Math::log_sigmoid({self.of(x.args[0]) if is_taken_apart else '-' + self._inside(x)})"
        if node.op == "select":
            return f"chosen({', '.join(map(self.of, node.args))})"
        if node.op == "surrogate":
            return self.of(node.args[0])
        if node.op == "not_above_zero":
            return f"{self._inside(node.args[0])} <= 0.0f"
        if node.op in ("at_least", "greater"):
            sign = " >= " if node.op == "at_least" else " > "
            return sign.join(map(self._inside, node.args))
        if gate := self._gate(node):
            return f"Gate<Math>::{gate[0]}({', '.join(gate[1])})"
        return f"{CALLS[node.op]}({', '.join(map(self.of, node.args))})"

    def _gate(self, node: Node) -> tuple[str, list[str]] | None:
        """The function of Gate and its arguments for sigmoid(u h + x), if it is one."""
        if not self._late or node.op != "sigmoid" or node.args[0].op != "add":
            return None
        for product, rest in (node.args[0].args[::-1], node.args[0].args):
            if node.args[0] not in self._names and self._fuses(product):
                if self._arrival[rest] and not self._arrival[product]:
                    return "of_sum", [self.of(rest), self.of(product)]
                return "of", [*map(self.of, product.args), self.of(rest)]
        return None

    def _gate_product(self, node: Node) -> str | None:
        """A gate times a factor that does not come later, which may be known by a name for itself, too."""
        if self._products:
            for gate, factor in (node.args, node.args[::-1]):
                known = self._arrival[gate] >= self._arrival[factor] and self._gate(gate)
                if known:
                    name = "scaled" if known[0] == "of" else "sum_scaled"
                    return f"Gate<Math>::{name}({', '.join([self.of(gate), *known[1], self.of(factor)])})"
        return None

    def _sum(self, node: Node) -> str:
        a, b = node.args
        negated = node.op == "sub"
        for product, rest in ((b, a), (a, b)) if not negated else ():
            for gate, factor in (product.args[::-1], product.args) if self._fuses(product) else ():
                if gate not in self._names and self._uses[gate] == 1 and (known := self._gate(gate)):
                    name = "times" if known[0] == "of" else "sum_times"
                    given = [*known[1], self.of(factor), self.of(rest)]
                    return f"Gate<Math>::{name}({', '.join(given)})"
        if self._fuses(a):
            x, y = a.args
            return f"fmaf({self.of(x)}, {self.of(y)}, {'-' + self._inside(b) if negated else self.of(b)})"
        if self._fuses(b):
            x, y = b.args
            return f"fmaf({'-' + self._inside(x) if negated else self.of(x)}, {self.of(y)}, {self.of(a)})"
        return f"{self._inside(a)} {'-' if negated else '+'} {self._inside(b)}"

    def _fuses(self, node: Node) -> bool:
        return node.op == "mul" and node not in self._names and self._uses[node] == 1


def _is_closed(text: str) -> bool:
    if SIMPLE.fullmatch(text):
        return True
    opening = re.match(r"[\w:]+\(", text)
    if opening is None:
        return False
    depth = 0
    for place, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if char == ")" and depth == 0:
            return place == len(text) - 1
    return False


def _number(value: float) -> str:
    if abs(value) > LARGEST_FLOAT32:
        raise InputError(f"the equations contain the number {value:g}, which is too large for float32")
    text = f"{value:.9g}"
    return f"{text}f" if "." in text or "e" in text else f"{text}.0f"
