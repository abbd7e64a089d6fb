"""Data files in YAML: nesting, aliases that stand for much, names, and what is no integer."""

from __future__ import annotations

from typing import Any

from constrint.frontends.text.yaml_data import read_yaml
from constrint.support.limits import Budget, decoded
from fuzz.harness import NAME, Format

WORDS = (
    "&a", "*a", "&b", "*b", "[*a, *a]", "- ", "? ", ": ", "<<: *a", "!!int", "!!str", "!!binary", "|", ">",
    "---", "...", "%YAML 1.1", "#", "{", "}", "[", "]", ",", "1_0", "0x1F", "0o7", "1:30", "yes", "null", "~",
    ".inf", "2001-01-01", "'", '"', "\\u0000", "\t", "!", "!x", "k: v",
)  # fmt: skip


def read(data: bytes) -> Any:
    """The document."""
    return read_yaml(decoded(data, NAME), NAME, Budget())


def use(document: Any) -> None:
    """Nothing: what a document stands for may be large."""


def grammar() -> Any:
    """Documents that are nearly right."""
    from hypothesis import strategies as st

    words = st.sampled_from(["n", "cost", "k1", "a", "x y", "<<", "1", "yes", "~", "é"])
    scalars = st.integers(-5, 10**30).map(str) | words | st.sampled_from(WORDS)
    values = st.recursive(
        scalars,
        lambda inner: st.one_of(
            st.lists(inner, max_size=5).map(lambda some: f"[{', '.join(some)}]"),
            st.lists(st.tuples(words, inner), max_size=4).map(
                lambda some: "{" + ", ".join([f"{name}: {value}" for name, value in some]) + "}"
            ),
            st.tuples(st.sampled_from("abc"), inner).map(lambda both: f"&{both[0]} {both[1]}"),
            st.sampled_from("abc").map(lambda name: f"*{name}"),
        ),
        max_leaves=12,
    )

    def chained(first: str, of: int, levels: int, in_mapping: bool) -> str:
        lines = [f"a0: &a0 {first}"]
        for k in range(1, levels):
            parts = [f"*a{k - 1}"] * of
            inner = (
                "{" + ", ".join([f"k{i}: {part}" for i, part in enumerate(parts)]) + "}"
                if in_mapping
                else f"[{', '.join(parts)}]"
            )
            lines.append(f"a{k}: &a{k} {inner}")
        return "\n".join(lines)

    chains = st.builds(
        chained, values, st.sampled_from([1, 2, 9, 400]), st.sampled_from([2, 9, 30, 600]), st.booleans()
    )
    plain = st.lists(st.tuples(words, values), max_size=5).map(
        lambda some: "\n".join([f"{name}: {value}" for name, value in some])
    )
    deep = st.sampled_from(["[", "{a: ", "- ", "a:\n "]).map(lambda part: "n: " + part * 3000)
    return st.one_of(plain, chains, plain, deep)


FORMAT = Format("yaml", read, use, grammar, WORDS)
