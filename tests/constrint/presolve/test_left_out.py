"""Rules of presolve that leave a problem out are named, with the number and the limit."""

from __future__ import annotations

import pytest

from constrint import Model, sum_
from constrint.answers.plan import explain_methods
from constrint.settings import DEFAULT, using

LIMITS = {
    "cliques": "most_pairs_of_cliques",
    "machines": "most_orders",
    "dominated rows": "most_rows_of_dominated",
    "equations": "most_terms_of_equations",
    "joint bounds": "most_rows_of_joint",
}


def model(field: str | None) -> Model:
    """A model to which all of these rules apply, with one of their limits at 0."""
    limited = {"most_postponed": 0, "wide": 1000, **({} if field is None else {field: 0})}
    with using(DEFAULT.with_fields(presolve=limited)):
        m = Model()
    x = m.int_vars("x", 6, 0, 9)
    wide = m.int_vars("w", 3, 0, 10**6)
    m.add(x[0] != x[1], x[2] != x[3])
    m.add(2 * x[0] + 3 * x[1] + 5 * x[2] == 31, 3 * x[0] + 2 * x[3] + 7 * x[4] == 41)
    m.add(sum_(x) <= 40, x[4] + x[5] <= 11, wide[0] + 2 * wide[1] <= 10**6, wide[1] + wide[2] >= 5)
    return m


@pytest.mark.parametrize("rule", LIMITS)
def test_a_rule_beyond_its_limit_is_named(rule: str) -> None:
    field = LIMITS[rule]
    lines = [line for line in explain_methods(model(field)) if line.startswith(f"presolve: {rule}")]
    assert len(lines) == 1
    assert f"more than 0 (presolve.{field})" in lines[0]


def test_nothing_is_named_within_the_limits() -> None:
    assert not [line for line in explain_methods(model(None)) if line.startswith("presolve:")]
