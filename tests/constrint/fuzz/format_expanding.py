"""Short texts of the language that stand for much: what is named and taken again, run through, and called."""

from __future__ import annotations

from typing import Any

from constrint import Limits, Model
from constrint.support.limits import decoded
from fuzz.harness import NAME, Format

WORDS = (
    "a0", "a1", "a9", "f0(", "f1(x)", "[a0, a0]", "for i in 1..2000", "for j in i..i-1", "if i < 0", "sum(",
    "1..1000000", "{1..1000000}", "[1..100000]", "x[1..100000] in 0..1", ":= [", "forall(", "enum e := {",
    "in a1", "a2[1]", "[x]", "len(", "** 2000", "element", "all_different(", "table([x], ", "_", "max(a3)",
)  # fmt: skip

LISTS = (
    "[{0}, {0}]",
    "[{0}]",
    "[{0}, x]",
    "[[{0}], [{0}]]",
    "[{0}, {0}, {0}, {0}]",
    "{0}",
    "[z for z in {0}]",
)
NUMBERS = (
    "{0} + {0}",
    "{0} * {0}",
    "max({0}, {0})",
    "abs({0} - {0})",
    "{0} + x",
    "sum([{0}, {0}])",
    "{0} // 2",
)

LIMITS = Limits(steps=100_000)
"""A tenth of the usual steps: what takes long without being counted stands out."""


def read(data: bytes) -> Model:
    """A model."""
    return Model.from_text(decoded(data, NAME), filename=NAME, limits=LIMITS)


def use(model: Model) -> None:
    """Nothing: what is read may be large."""


def _chained(first: str, then: str, count: int, use_of: list[str]) -> str:
    names = [f"a0 := {first}", *[f"a{k} := {then.format(f'a{k - 1}')}" for k in range(1, count)]]
    return "\n".join([*names, *[one.format(f"a{count - 1}") for one in use_of]])


def _called(first: str, then: str, count: int, argument: str) -> str:
    names = [f"f0(p) := {first}", *[f"f{k}(p) := {then.format(f'f{k - 1}')}" for k in range(1, count)]]
    return "\n".join([*names, f"sum([f{count - 1}({argument})]) == x"])


def _looped(head: str, ranges: list[str], condition: str, call: str) -> str:
    generators = " ".join([f"for {name} in {one}" for name, one in zip("ijklmn", ranges, strict=False)])
    return f"{call}({head} {generators} {condition})" + ("" if call == "forall" else " == x")


def _repeated(line: str, times: int) -> str:
    return "\n".join([line] * times)


def grammar() -> Any:
    """Chains of definitions and functions, each of what stands before it, and uses of the last."""
    from hypothesis import strategies as st

    levels = st.sampled_from([1, 2, 5, 12, 20, 60, 200, 600])
    sizes = st.sampled_from(
        ["1..2", "1..30", "1..2000", "1..100000", "1..1000000", "i..i - 1", "{}", "a0", "v"]
    )
    lists, numbers = st.sampled_from(LISTS), st.sampled_from(NUMBERS)
    bodies = st.sampled_from(
        ["{0}(p) + {0}(p)", "[{0}(p), {0}(p)]", "{0}([p, p])", "sum({0}(p) for k in 1..3)", "{0}(p) * {0}(p)"]
    )
    firsts = st.sampled_from(["[1, 1]", "[x, y]", "[]", "x", "1", "v", "[[1, 2], [3, 4]]", "1..1000"])
    uses = st.sampled_from(
        [
            "sum({0}) == x", "{0} == x", "x in {0}", "all_different({0})", "{0}[1] == x", "{0}[x] == y",
            "forall({0})", "len({0}) == x", "table([x, y], {0})", "b[1..2] := {0}", "x[z in {0}] in 0..1",
            "sum(z for z in {0}) == x", "forall(z == x for z in {0} if z == 3)", "minimize sum({0})",
        ]
    )  # fmt: skip

    conditions = st.sampled_from(["", "", "if i < 0", "if i % 2 == 0", "if i in {3}", "if i < 0 if i > 5"])
    parts = st.one_of(
        st.builds(_chained, firsts, lists | numbers, levels, st.lists(uses, min_size=1, max_size=3)),
        st.builds(_called, st.sampled_from(["p", "p + p", "[p, p]", "1"]), bodies, levels, firsts),
        st.builds(
            _looped, st.sampled_from(["i", "x == i", "i * x", "v[i]", "1", "[i, i]"]),
            st.lists(sizes, min_size=1, max_size=6), conditions,
            st.sampled_from(["sum", "forall", "max", "all_different", "len", "exists", "product"]),
        ),
        st.builds(
            _repeated, st.sampled_from(["sum(v) <= 7", "v[y] == 3", "x in {1..100000}", "s + x <= 3"]),
            st.sampled_from([1, 10, 300]),
        ),
        st.sampled_from([f"enum e := {{{', '.join(f'n{k}' for k in range(n))}}}" for n in (1, 900, 4000)]),
    )  # fmt: skip
    heads = st.sampled_from(
        ["v[1..3] in 0..9", "v[1..3000] in 0..9", "v[1..100000] in 0..9", "v := [1, 2, 3]"]
    )
    return st.builds(
        lambda head, some: "\n".join(["x in 0..9", "y in 0..9", head, "s := sum(v)", *some]),
        heads, st.lists(parts, min_size=1, max_size=3),
    )  # fmt: skip


FORMAT = Format("expanding", read, use, grammar, WORDS)
