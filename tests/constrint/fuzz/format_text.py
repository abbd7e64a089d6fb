"""The `.constrint` language."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from constrint import Model
from constrint.expr import FUNCTIONS
from constrint.frontends.text.format import format_text
from constrint.support.limits import decoded
from fuzz.harness import NAME, Format
from fuzz.using import use_model

WORDS = (
    "and", "or", "not", "->", "<->", "divides", "in", "not in", "step", "bool", "maximize", "minimize",
    "prefer", "max", "min", "true", "false", ":=", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "//",
    "%", "**", "..", "abs(", "gcd(", "lcm(", "ceildiv(", "if_then_else(", "all_different(", "table(",
    "element_2d(", "cumulative(", "x", "y", "z", "`x[0]`", "x := y", "\n", ";", "# comment", "\\\n",
    "x ** 10 ** 9", "2 ** 10 ** 9", "0 ** -1", "x in 1..10 ** 30", "x in {1..1000000}", "{}", "[]",
    "x // 0", "x % 0", "[3, 5, 7][x]", "[1, 2, 3, 4, 5, 6]", "1 << 10", "\ud800", "é", "ﬀ", "x²",
    "a := a * a\n", "* 10 ** 2000", "** 1000", "lcm(x, y) ** 50", "x.y",
    "for", "if", "param", "enum", "include", " for i in 1..3", " for i, j in [[1, 2]]", " if i > 1",
    "[..]", "[1, ..]", "sum(", "product(", "forall(", "exists(", "len(", "w[1..3] in 0..2\n",
    "w[i in 1..3] := i\n", "f(a) := a + x\n", "enum colour := {red, blue}\n", "param n := 3\n",
    'include "a.constrint"\n', "w[x, y]", "w[red]", "f(f(x))", "1..10 ** 12", "for i in 1..10 ** 12", '"',
    "w[1..10 ** 12] bool\n",
)  # fmt: skip

CALLED = {
    name: (function.fewest, function.most or 4)
    for name, function in FUNCTIONS.items()
    if not (function.infix or function.conditions)
}
"""Arithmetic functions, and how few and how many operands they are given."""


def read(data: bytes) -> tuple[Model, str]:
    """A model, and its text as it is formatted."""
    text = decoded(data, NAME)
    model = Model.from_text(text, filename=NAME)
    return model, format_text(text, filename=NAME)


def use(given: tuple[Model, str]) -> None:
    """Formatting is a fixed point; the model is used as any other."""
    model, formatted = given
    if format_text(formatted, filename=NAME) != formatted:
        raise AssertionError("what is formatted is not formatted so again")
    use_model(model)


def _joined(operators: list[str], parts: Any) -> Any:
    from hypothesis import strategies as st

    return st.tuples(parts, st.sampled_from(operators), parts).map(lambda p: f"({p[0]} {p[1]} {p[2]})")


def _call(names: list[str], parts: Any, least: int, most: int) -> Any:
    from hypothesis import strategies as st

    lists = st.lists(parts, min_size=least, max_size=most).map(", ".join)
    return st.builds("{}({})".format, st.sampled_from(names), lists)


def _words() -> SimpleNamespace:
    """The parts that have no expressions in them."""
    from hypothesis import strategies as st

    small = st.sampled_from(["0", "1", "2", "3", "7", "64"])
    odd = st.sampled_from(["1000", "0x1F", "1_000", "99999999999999999999", "007", "-1"])
    numbers = st.one_of(small, small, small, odd)
    braces = st.lists(st.one_of(numbers, st.tuples(small, small).map("..".join)), max_size=5).map(
        lambda parts: "{" + ", ".join(parts) + "}"
    )
    long = st.lists(small, min_size=12, max_size=40).map(", ".join)
    rows = st.lists(st.tuples(small, small).map(lambda r: f"[{r[0]}, {r[1]}]"), max_size=12)
    ends = st.sampled_from(["", "0", "1", "5", "-3", "100"])
    ranges = st.builds(
        "{}..{}{}".format, ends, ends, st.sampled_from(["", "", " step 2", " step 7", " step 0"])
    )
    sets = st.one_of(braces, ranges, st.just("s"), long.map("{{{}}}".format), long.map("[{}]".format))
    leaves = st.sampled_from(["x", "y", "z", "x", "y", "z", "`q[0]`", "b", "w[1]", "g[1, red]", "i"])
    loops = st.lists(
        st.builds(
            " for {} in {}{}".format,
            st.sampled_from(["i", "j", "i", "x", "i, j"]),
            st.one_of(
                st.sampled_from(["1..3", "colour", "[[1, 2], [2, 3]]", "w", "g", "1..9", "1..0"]), sets
            ),
            st.sampled_from(["", "", " if i > 1", " if i != j", " if x > 1", " if i"]),
        ),
        min_size=1,
        max_size=3,
    ).map("".join)
    truths = st.sampled_from(["b", "c", "true", "false", "x == y", "x <= 4"])
    return SimpleNamespace(**{name: part for name, part in locals().items() if name != "st"})


def _gathering(words: SimpleNamespace, integers: Any) -> SimpleNamespace:
    """Elements of arrays, comprehensions, and what takes them."""
    from hypothesis import strategies as st

    indices = st.one_of(integers, st.sampled_from(["..", "i", "i + 1", "red", "1..2", "{1, 3}", "x"]))
    indexed = st.one_of(
        st.builds("w[{}]".format, indices),
        st.builds("g[{}, {}]".format, indices, indices),
        st.builds("g[{}][{}]".format, indices, indices),
        st.builds("cost[{}]".format, indices),
    )
    gathered = st.one_of(
        st.builds("{}{}".format, integers, words.loops),
        st.builds("[{}{}]".format, integers, words.loops),
        indexed,
        st.sampled_from(["w", "g", "g[1, ..]", "cost", "colour", "1..4", "[1, x]"]),
    )
    aggregates = st.builds(
        "{}({})".format, st.sampled_from(["sum", "product", "min", "max", "len", "nvalue"]), gathered
    )
    applied = st.one_of(
        st.builds("twice({})".format, integers), st.builds("mix({}, {})".format, integers, gathered)
    )
    return SimpleNamespace(indexed=indexed, gathered=gathered, aggregates=aggregates, applied=applied)


def _numbers(
    words: SimpleNamespace, many: SimpleNamespace, integers: Any, conditions: Any, lists: Any
) -> Any:
    from hypothesis import strategies as st

    return st.one_of(
        words.leaves,
        words.leaves,
        words.numbers,
        _joined(["+", "-", "*"], integers),
        _joined(["//", "%", "**", "*"], integers),
        st.builds("{} {} {} {} {}".format, integers, st.just("*"), integers, st.just("%"), integers),
        _call(["abs", "-", "+"], integers, 1, 1),
        _call(["min", "max", "gcd", "lcm"], integers, 1, 4),
        _call(["ceildiv"], integers, 2, 2),
        *[_call([name], integers, *arities) for name, arities in CALLED.items()],
        st.builds("if_then_else({}, {}, {})".format, conditions, integers, integers),
        st.builds("{}[{}]".format, st.one_of(st.just("s"), words.long.map("[{}]".format)), integers),
        st.builds("element_2d([[1, 2], [3, 4]], {}, {})".format, integers, integers),
        st.builds("nvalue({})".format, lists),
        many.indexed,
        many.aggregates,
        many.applied,
        conditions,
    )


def _conditions(
    words: SimpleNamespace, many: SimpleNamespace, integers: Any, conditions: Any, lists: Any
) -> Any:
    from hypothesis import strategies as st

    return st.one_of(
        words.truths,
        words.truths,
        _joined(["==", "!=", "<", "<=", ">", ">=", "divides"], integers),
        st.builds("({} < {} <= {})".format, integers, integers, integers),
        _joined(["and", "or", "->", "<->"], conditions),
        st.builds("(not {})".format, conditions),
        st.builds("({} {} {})".format, integers, st.sampled_from(["in", "not in"]), words.sets),
        st.builds("table([{}, {}], [{}])".format, integers, integers, words.rows.map(", ".join)),
        _call(["all_different", "increasing", "decreasing", "circuit"], integers, 1, 4),
        st.builds("lex_less({}, {})".format, lists, lists),
        st.builds("count({}, {}) <= {}".format, lists, integers, integers),
        st.builds("cumulative({}, [1, 2], [1, 1], 2)".format, lists),
        st.builds("no_overlap({}, {})".format, lists, lists),
        st.builds("{}({}{})".format, st.sampled_from(["forall", "exists"]), conditions, words.loops),
        st.builds("all_different({})".format, many.gathered),
    )


def _statements(words: SimpleNamespace, many: SimpleNamespace, integers: Any, conditions: Any) -> Any:
    from hypothesis import strategies as st

    return st.one_of(
        *[conditions] * 6,
        integers,
        st.just("x + unknown == 2"),
        st.builds("all: forall({}{})".format, conditions, words.loops),
        st.builds(
            "{} in {}".format,
            st.sampled_from(["v[1..3]", "u[colour]", "v[i in 1..3]", "w[1..2]"]),
            words.sets,
        ),
        st.builds(
            "{} := {}".format, st.sampled_from(["d[i in 1..2]", "d[1..2]", "h(a, i)", "d"]), many.gathered
        ),
        st.builds("{} := {}".format, st.sampled_from(["d[i in 1..2]", "h(a, i)", "h(x)"]), integers),
        st.builds("param {}".format, st.sampled_from(["n := 3", "n", "x := 1", "n[1..2] := [1, 2]"])),
        st.sampled_from(["enum kind := {p, q}", "enum kind := {red}", "enum kind", 'include "a.constrint"']),
        st.builds("{}: {}".format, st.sampled_from(["first", "`a b`"]), conditions),
        st.builds("{} := {}".format, st.sampled_from(["d", "e", "x"]), integers | words.braces),
        st.builds("{} in {}".format, st.sampled_from(["u", "v", "x", "u, v"]), words.sets),
        st.builds("{} {}".format, st.sampled_from(["minimize", "maximize"]), integers),
        st.builds("prefer {} {}".format, words.leaves, st.sampled_from(["max", "min", "up"])),
    )


def grammar() -> Any:
    """Texts that are nearly right: most are, and the rest have a part of the wrong kind somewhere."""
    from hypothesis import strategies as st

    integers, conditions = st.deferred(lambda: whole), st.deferred(lambda: truth)
    words = _words()
    many = _gathering(words, integers)
    lists = st.lists(integers, min_size=1, max_size=4).map(lambda parts: "[" + ", ".join(parts) + "]")
    whole = _numbers(words, many, integers, conditions, lists)
    truth = _conditions(words, many, integers, conditions, lists)
    statements = _statements(words, many, integers, conditions)
    head = "x in 0..9\ny in -3..60\nz in {1, 5, 7}\n`q[0]` in 0.. step 3\nb, c bool\ns := [2, 4, 8]\n"
    head += "enum colour := {red, blue}\nw[1..3] in 0..3\ng[1..2, colour] in 0..3\ncost[i in 0..2] := i * i\n"
    head += "i := 2\ntwice(a) := a + a\nmix(a, l) := a + sum(l)\n"
    breaks = st.sampled_from(["\n", "; ", "\r\n", "  # comment\n", "\n\n"])
    return st.lists(st.tuples(statements, breaks), max_size=4).map(
        lambda parts: head + "".join([part + end for part, end in parts])
    )


FORMAT = Format("text", read, use, grammar, WORDS)
