"""Samples of the formats LP, MPS, CNF, WCNF and OPB, and the strategies that are made of them."""

from __future__ import annotations

from typing import Any

from constrint import Model
from fuzz.harness import NAME, Format
from fuzz.using_large import use_any

NUMBERS = (
    "1e400", "1e-9", "9" * 30, "-0.5", "0", "-1", "1" * 4300, "1e999999999", "inf", "-inf", ".", "+", "-",
    "nan", "1_0", "\u0663", "1e9 x1", "3 1e5",
)  # fmt: skip


def format_for(dialect: str, samples: tuple[str, ...], words: tuple[str, ...]) -> Format:
    """A format whose texts are lines of its samples, in their order, with some left out and words put in."""

    def read(data: bytes) -> Model:
        from constrint.support.limits import decoded

        return Model.from_text(decoded(data, NAME), filename=NAME, dialect=dialect)

    def grammar() -> Any:
        from hypothesis import strategies as st

        chosen = st.sampled_from(samples)
        edits = st.lists(st.tuples(st.integers(0, 30), st.sampled_from(words)), max_size=3)
        drops = st.sets(st.integers(0, 60), max_size=2)

        def made(text: str, inserted: list[tuple[int, str]], dropped: set[int]) -> str:
            lines = [line for i, line in enumerate(text.splitlines()) if i not in dropped]
            for place, word in inserted:
                at = place % (len(lines) + 1)
                lines[at:at] = [word] if place % 2 else []
                if not place % 2 and lines:
                    lines[at % len(lines)] += " " + word
            return "\n".join(lines) + "\n"

        return st.builds(made, chosen, edits, drops)

    return Format(dialect, read, use_any, grammar, words)
