"""The FlashRNN dialect, `dialect="flashrnn"`."""

from __future__ import annotations

from typing import Any

from constrint import Model
from constrint.support.limits import decoded
from fuzz.harness import NAME, Format, named_in
from fuzz.using import use_model

WORDS = (
    "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "%", "^", "|", ";", "\n", "# comment", "\\\n", "(",
    ")", "[2, 4]", "[", "]", ",", "x", "y", "z", "x ^ 1000000000", "2 ^ 2 ^ 2", "x % 0", "[2, 4] <= x",
    "a == [y, 3]", "and", "or", "in", "é", "\ud800", "x ^ y ^ z", "10 ^ 10000000000", "1 <= x <= 64",
    "(a == 1; b == 2) | (c == 3)",
)  # fmt: skip


def read(data: bytes) -> Model:
    """A model; one name in the text is a constant list, one a number."""
    text = decoded(data, NAME)
    constants = named_in(text, {"L": [16, 32, 64], "N": 48})
    return Model.from_text(text, filename=NAME, dialect="flashrnn", constants=constants)


def grammar() -> Any:
    """Texts that are nearly right."""
    from hypothesis import strategies as st

    atoms = st.sampled_from(["x", "y", "z", "t", "x", "y", "N", "0", "1", "2", "16", "48", "65536", "9" * 20])

    def larger(inner: Any) -> Any:
        return st.one_of(
            st.tuples(inner, st.sampled_from([" * ", "*", " * "]), inner).map("".join),
            st.tuples(inner, st.sampled_from([" + ", " - "]), inner).map("".join),
            inner.map(lambda e: f"({e})"),
        )

    plain = st.recursive(atoms, larger, max_leaves=5)
    products = st.lists(atoms, min_size=1, max_size=3).map(" * ".join)
    lists = st.one_of(st.just("L"), st.lists(plain, max_size=4).map(lambda parts: f"[{', '.join(parts)}]"))
    sides = st.one_of(
        plain,
        plain,
        plain,
        st.tuples(products, products).map(" % ".join),
        st.tuples(atoms, atoms).map(" ^ ".join),
        st.sampled_from(["x y", "x ^ y ^ z", "x % y + 1", "[x]", "-x", "x and y"]),
    )
    compares = st.sampled_from([" == ", " <= ", " < ", " != ", " >= ", " > "])
    conditions = st.one_of(
        st.tuples(sides, compares, sides).map("".join),
        st.tuples(sides, compares, sides).map("".join),
        st.tuples(sides, compares, sides, compares, sides).map("".join),
        st.tuples(atoms, st.just(" == "), lists).map("".join),
        st.tuples(atoms, compares, lists).map("".join),
    )
    choices = st.one_of(conditions, st.lists(conditions, min_size=1, max_size=3).map(" | ".join))
    ends = st.sampled_from([";", ";\n", "\n", "\r\n", " ; # comment\n", ";;"])
    return st.lists(st.tuples(choices, ends).map("".join), max_size=4).map("".join)


FORMAT = Format("flashrnn", read, use_model, grammar, WORDS)
