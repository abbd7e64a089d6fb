"""Drawn functions of the Python that can be compiled, as a module's text.

They end, and all values stay within 64 bits.
"""

from __future__ import annotations

from random import Random

HEAD = """from __future__ import annotations

from typing import NamedTuple

FACTOR, IS_ON, LOW, SIZE, STEP = 7, True, -5, 9, 3
late1 = late2 = late3 = 55


class Memory(NamedTuple):
    a: list[int]
    b: list[int]
    c: list[int]


def touch(m: Memory, x: int, y: int) -> int:
    m.c[0] += 1
    m.a[x % SIZE] = (x * 3 + m.c[0]) % 1000
    return (y + m.b[x % SIZE]) % 777


def over(cells: list[int], x: int) -> int:
    cells[x % len(cells)] += 1
    return cells[(x + 1) % len(cells)] if x > 0 else -len(cells)
"""
ARRAYS = ("m.a", "m.b", "same", "given")
COMPARED = ("<", "<=", ">", ">=", "==", "!=")


class Drawing:
    """Draws functions; what they call changes memory, so the order of evaluation shows."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._loops = 0

    def function(self, name: str) -> str:
        """The text of a function."""
        head = f"def {name}(m: Memory, x: int, y: int, given: list[int]) -> int:"
        lines = [head, "same = m.a", "u, v, w = x, y, 0"]
        for _ in range(4):
            lines += self._statement(3, ["x", "y", "u", "v", "w"], False)
        return "\n    ".join([*lines, "return (u ^ v) + w"]) + "\n\n\n"

    def _one(self, *choices: str) -> str:
        return self._random.choice(choices)

    def _leaf(self, names: list[str]) -> str:
        cell = f"{self._one(*ARRAYS)}[{self._one(*names)} % SIZE]"
        number = self._one("0", "1", "2", "-1", "-3", "7", "100", "-1000")
        return self._one(*names, *names, cell, cell, "FACTOR", "IS_ON", "LOW", number, number)

    def _value(self, depth: int, names: list[str]) -> str:
        if depth == 0:
            return self._leaf(names)
        p, q, r = (self._value(depth - 1, names) for _ in range(3))
        leaf = self._leaf(names)
        return self._one(
            f"({p} {self._one(*'+-&|^')} {q})",
            f"({leaf} * {self._leaf(names)})",
            f"({p} {self._one('//', '%')} ({q} | 1))",
            f"({p} >> ({q} & {self._one('3', '127')}))",
            f"({leaf} << ({q} & 7))",
            f"({self._one('-', '~', 'not ')}{p})",
            f"({p} if {self._truth(depth - 1, names)} else {q})",
            f"({self._truth(depth - 1, names)})",
            f"{self._one('min', 'max')}({p}, {q}, {leaf})",
            f"abs({p})",
            f"({p} {self._one('and', 'or')} {q} {self._one('and', 'or')} {r})",
            f"touch(m, {p}, {q})",
            f"over({self._one(*ARRAYS)}, {p})",
        )

    def _truth(self, depth: int, names: list[str]) -> str:
        p, q, r = (self._value(max(0, depth - 1), names) for _ in range(3))
        simple = self._one(
            f"{p} {self._one(*COMPARED)} {q}",
            f"{p} {self._one(*COMPARED)} {q} {self._one(*COMPARED)} {r}",
            f"{p} in ({q}, {r}, 3)",
            p,
        )
        if depth == 0:
            return simple
        other = self._truth(depth - 1, names)
        return self._one(simple, f"not ({other})", f"({simple}) {self._one('and', 'or')} ({other})")

    def _small(self, depth: int, names: list[str]) -> str:
        return f"({self._value(depth, names)}) % 1048573 - 500000"

    def _block(self, depth: int, names: list[str], is_loop: bool) -> list[str]:
        lines: list[str] = []
        for _ in range(self._random.randint(1, 4)):
            lines += self._statement(depth, names, is_loop)
        return ["    " + line for line in lines]

    def _statement(self, depth: int, names: list[str], is_loop: bool) -> list[str]:
        small, index = self._small(2, names), f"({self._value(1, names)}) % SIZE"
        test = self._truth(2, names)
        kinds = ["assign", "change", "store", "add", "many", "call"]
        kinds += ["if", "for", "for", "while"] if depth else []
        kinds += ["leave"] if is_loop else []
        match self._one(*kinds):
            case "assign":
                return [f"{self._one('u', 'v', 'w')} = {small}"]
            case "change":
                return [f"{self._one('u', 'v')} {self._one(*'+-^|&')}= {small}"]
            case "store":
                return [f"{self._one(*ARRAYS)}[{index}] = {small}"]
            case "add":
                return [f"m.a[{index}] {self._one('+', '-')}= touch(m, {self._value(1, names)}, 3)"]
            case "many":
                return [f"u, m.b[u % SIZE], v = {small}, {self._small(1, names)}, {self._small(1, names)}"]
            case "call":
                return [f"touch(m, {self._value(1, names)}, {self._value(1, names)})"]
            case "if":
                lines = [f"if {test}:", *self._block(depth - 1, names, is_loop)]
                other = self._one("", f"elif {self._truth(1, names)}:", "else:")
                return [*lines, other, *self._block(depth - 1, names, is_loop)] if other else lines
            case "for":
                return self._for(depth, names)
            case "while":
                self._loops += 1
                i = f"i{self._loops}"
                body = self._block(depth - 1, [*names, i], True)
                return [f"{i} = 0", f"while {i} < 5 and ({test} or {i} < 2):", f"    {i} += 1", *body]
        return [f"if {test}:", "    " + self._one("break", "continue", f"return {small}")]

    def _for(self, depth: int, names: list[str]) -> list[str]:
        """A loop that may read a variable above its assignment; the module has one of that name, too."""
        self._loops += 1
        i, late = f"i{self._loops}", f"late{self._loops}"
        ends = self._one(
            "4",
            f"{self._leaf(names)} % 5",
            f"{self._leaf(names)} % 7 - 3, {self._leaf(names)} % 6",
            f"9, {self._leaf(names)} % 9, -2",
            "0, 10, STEP",
        )
        body = self._block(depth - 1, [*names, i], True)
        begin, read = [f"seen{i} = 0"], [f"    if seen{i}:", f"        u = {late} + 1"]
        assign = [f"    {late}, seen{i} = 3 * {i}, 1"]
        return [*begin, f"for {i} in range({ends}):", *read, *assign, *body]


def module_text(first: int, count: int) -> str:
    """A module with so many drawn functions, and one, `entry`, that calls the one with a given number."""
    functions = [Drawing(first + i).function(f"function{i}") for i in range(count)]
    calls = [
        f"    if number == {i}:\n        return function{i}(m, x, y, m.{'abc'[i % 3]})\n"
        for i in range(count)
    ]
    head = "def entry(m: Memory, number: int, x: int, y: int) -> int:\n"
    return HEAD + "\n\n" + "".join(functions) + head + "".join(calls) + "    return 0\n"
