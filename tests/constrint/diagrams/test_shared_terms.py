"""Terms that many others share are looked at once, not once for each path to them."""

from __future__ import annotations

import pytest

from constrint import Model, regular


@pytest.mark.parametrize("length", [8, 30])
def test_chains_of_shared_terms_take_linear_work(length: int) -> None:
    """Each state of an automaton is defined by the one before it: every link uses the last one many times."""
    m = Model()
    word = m.int_vars("word", length, 0, 1)
    runs = [((symbol, 1), symbol, (symbol, 2)) for symbol in (0, 1)]
    runs += [((symbol, run), 1 - symbol, (1 - symbol, 1)) for symbol in (0, 1) for run in (1, 2)]
    runs += [("begin", symbol, (symbol, 1)) for symbol in (0, 1)]  # type: ignore[misc]
    m.add(regular(word, runs, "begin", [after for _, _, after in runs]))
    ends = [2, 4]  # words without three equal neighbours, by length: twice the Fibonacci numbers
    while len(ends) < length:
        ends.append(ends[-1] + ends[-2])
    assert m.count(time_limit=60) == ends[length - 1]
