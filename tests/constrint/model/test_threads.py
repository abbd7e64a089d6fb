"""One thread changes a model while another asks about it: each answer is that of the model at some time."""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from constrint import Model, Status, all_different, sum_
from constrint.modelling.declarations import Declarations

Change = Callable[[Model, Any, int], object]


@pytest.fixture(autouse=True)
def _often_switched() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def _scoped(model: Model, xs: Any, i: int) -> None:
    with model.scope():
        y = model.int_var(f"y{i}", 0, 3)
        model.add(xs[0] != y, sum_(xs) >= 31 + y)
    model.push()
    model.add(model.bool_var(f"b{i}") | (xs[0] > 1))
    model.let(f"total{i}", xs[0] + xs[1])
    model.pop()


def _switched(model: Model, xs: Any, i: int) -> None:
    handle = model.add(xs[0] != 3, xs[i % 6] + xs[1] > 4)
    handle.disable()
    handle.enable()
    handle.remove()


CHANGES: dict[str, Change] = {
    "constraints": lambda model, xs, i: model.add(xs[i % 6] + xs[0] != i % 7),
    "variables": lambda model, xs, i: model.add(model.int_var(f"y{i}", 0, 3) < xs[0] + 4),
    "scopes": _scoped,
    "switches": _switched,
    "weights": lambda model, xs, i: model.add(xs[i % 6] == i % 4, weight=1 + i % 3).remove(),
    "assumptions": lambda model, xs, i: (model.assume(xs[0] != i % 5), model.retract()),  # type: ignore[func-returns-value]
    "hints": lambda model, xs, i: (model.hint({xs[0]: i % 5}), model.minimize(xs[i % 6] - xs[0])),  # type: ignore[func-returns-value]
    "symbols": lambda model, xs, i: model.enum_var(f"e{i}", ["a", "b"]),
    "intervals": lambda model, xs, i: model.interval(f"t{i}", (0, 9), (1, 2), optional=True),
}
CALLS: dict[str, Callable[[Model, Any], object]] = {
    "solve": lambda model, xs: model.solve(maximize=xs[0] + xs[1]),
    "solve as is": lambda model, xs: model.solve(assumptions=[xs[0] > 0]),
    "cp-sat": lambda model, xs: model.solve(backend="cp-sat"),
    "iter_solutions": lambda model, xs: list(model.iter_solutions(limit=3)),
    "count": lambda model, xs: model.count(variables=[xs[0]], time_limit=9),
    "best_solutions": lambda model, xs: model.best_solutions(2, maximize=xs[0]),
    "plan": lambda model, xs: model.plan(),
    "explain": lambda model, xs: model.explain(),
    "to_text": lambda model, xs: Model.from_text(model.to_text()),
    "to_json": lambda model, xs: Model.from_json(model.to_json()),
    "copy": lambda model, xs: model.copy().to_text(),
    "str": lambda model, xs: str(model),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("change", CHANGES)
def test_a_call_answers_for_the_model_at_some_time(call: str, change: str) -> None:
    for _ in range(3):
        model = Model()
        xs = model.int_vars("x", 6, 0, 9)
        model.add(all_different(xs), xs.sum() >= 30)
        other = threading.Thread(target=_changing, args=(model, xs, CHANGES[change]))
        other.start()
        try:
            CALLS[call](model, xs)
        finally:
            other.join()


def _changing(model: Model, xs: Any, change: Change) -> None:
    for i in range(40):
        change(model, xs, i)


def test_a_change_during_a_call_is_for_later_calls() -> None:
    model = Model()
    x = model.int_var("x", 0, 9)
    seen = []

    def changing(result: Any) -> None:
        seen.append(result["x"])
        if len(seen) == 1:
            model.add(x > 100)
            model.int_var("y", 0, 1)

    result = model.solve(maximize=x, on_solution=changing)
    assert (result.status, result["x"]) == (Status.OPTIMAL, 9)
    assert model.solve().status is Status.INFEASIBLE


def test_all_methods_that_change_a_model_are_guarded() -> None:
    """A method that neither is guarded nor is one of these must be added to one of the two."""
    asks = {"copy_to", "scope", "declare_name", "violation", "int_var", "int_vars", "bool_vars"}
    public = {name for name, one in inspect.getmembers(Declarations) if not name.startswith("_")}
    for name in sorted(public - asks):
        method = getattr(Declarations, name)
        assert hasattr(method, "__wrapped__") or "with self.lock:" in inspect.getsource(method), name


class Queens(Model):
    """A subclass with a constructor of its own."""

    def __init__(self, n: int, /) -> None:
        super().__init__(f"{n} queens")
        self.n = n
        self.rows = self.int_vars("q", n, 0, n - 1)
        for sign in (-1, 0, 1):
            self.add(all_different([q + sign * i for i, q in enumerate(self.rows)]))


def test_subclasses_are_copied_without_their_constructor() -> None:
    queens = Queens(6)
    assert queens.count() == len(list(queens.iter_solutions())) == 4
    assert (queens.copy().n, type(queens.copy()), queens.copy().name) == (6, Queens, "6 queens")
    assert queens.solve()
