"""What the arguments of calls may be: goals, conditions, variables and hints, one or many, by any name."""

from typing import Any

import pytest

from constrint import Model, ModelError, array, cost_regular, regular


def _model() -> tuple[Model, Any, Any]:
    m = Model()
    x, y = m.int_var("x", 0, 5), m.int_var("y", 0, 5)
    m.add(x + y <= 6)
    return m, x, y


def test_pareto_takes_goals_as_solve_does() -> None:
    m, x, y = _model()
    front = [(5, 1), (4, 2), (3, 3), (2, 4), (1, 5)]
    assert m.pareto([(x, "max"), (y, "max")]).objectives == front
    assert m.pareto(maximize=[x, y]).objectives == front
    assert m.pareto([(x, "max")], maximize=y).objectives == front
    assert m.pareto(maximize=array([x, y])).objectives == front
    m.add(x >= y)
    assert m.pareto(minimize=x, maximize=y).objectives == [(0, 0), (1, 1), (2, 2), (3, 3)]
    assert m.pareto(maximize=y, minimize=x).objectives == [(3, 3), (2, 2), (1, 1), (0, 0)]
    assert m.pareto(minimize=0.5 * x, maximize=y).objectives == [(0, 0), (0.5, 1), (1, 2), (1.5, 3)]
    with pytest.raises(ModelError, match="at least one goal"):
        m.pareto()
    m.minimize(0.25 * x)
    m.maximize(y)
    assert m.pareto().objectives == [(0, 0), (0.25, 1), (0.5, 2), (0.75, 3)]
    with pytest.raises(ModelError, match="list of pairs"):
        m.pareto(x)  # the mistake


def test_an_array_is_a_list_of_goals() -> None:
    m = Model()
    x = m.int_vars("x", 3, 0, 3)
    m.add(x.sum() == 5)
    assert m.solve(maximize=x).objective == (3, 2, 0)
    assert m.best_solutions(2, minimize=x).objectives == [(0, 2, 3), (0, 3, 2)]


def test_every_state_accepts_by_default() -> None:
    m = Model()
    x = m.int_vars("x", 3, 0, 1)
    arcs = [("a", 0, "a"), ("a", 1, "b"), ("b", 0, "a")]  # no two ones in a row
    assert m.count() == 8
    m.add(regular(x, arcs, "a"))
    assert m.count() == 5
    m.add(~regular(x, arcs, "a", ["a"]))
    assert m.count() == 2
    pay = m.int_var("pay", 0, 9)
    m.add(cost_regular(x, [(*arc, arc[1]) for arc in arcs], "a", None, pay))
    assert sorted(one[pay] for one in m.iter_solutions()) == [1, 2]


@pytest.mark.parametrize("backend", ["constrint", "cp-sat"])
def test_one_assumption_or_many(backend: Any) -> None:
    if backend == "cp-sat":
        pytest.importorskip("ortools")
    m, x, y = _model()
    for given in (x == 5, [x == 5], [[x >= 5], (x <= 5 for _ in range(2))], array([x == 5])):
        assert m.solve(maximize=y, assumptions=given, backend=backend)[y] == 1  # type: ignore[arg-type]
    assert m.explain(assumptions=x + y > 6) is not None
    assert m.explain(assumptions=x + y > 5) is None


def test_variables_are_chosen_alike_everywhere() -> None:
    m = Model()
    x = m.int_vars("x", (2, 2), 0, 1)
    e, s = m.enum_var("e", [(1, 2), (3, 4)]), m.set_var("s", [1, 2])
    task = m.interval("task", (0, 2), 1)
    choices: list[tuple[Any, int]] = [(x, 16), ("e", 2), (e, 2), (s, 4), (x[0, 0], 2), ([x[0], [s], "e"], 32)]
    for given, number in choices:
        assert m.count(variables=given) == number
        assert len(list(m.iter_solutions(variables=given))) == number
        assert len(m.best_solutions(99, minimize=task.start, variables=given)) == number
        with m.scope():
            blocked = 0
            while result := m.solve():
                m.block(result, given)
                blocked += 1
            assert blocked == number
    other = Model()
    foreign, _ = other.int_var("e", 0, 1), other.int_var("x[0,0]", 0, 1)
    for wrong in (foreign, [foreign], task, "nobody", x[0, 0] + 1, 3, None):
        with pytest.raises(ModelError, match="is not a variable of this model"):
            m.count(variables=[wrong])  # type: ignore[list-item]
        with pytest.raises(ModelError, match="is not a variable of this model"):
            m.block(m.solve(), [wrong])  # type: ignore[list-item]


def test_arrays_in_hints() -> None:
    m = Model()
    x = m.int_vars("x", (2, 2), 0, 9)
    m.add(x.sum() >= 9)
    assert m.solve(hint={x: [[1, 2], [3, 4]]})[x].tolist() == [[1, 2], [3, 4]]
    assert m.solve(hint={x: m.solve()[x]})[x].tolist() == m.solve()[x].tolist()
    for wrong in ([1, 2], 5, [[1, 2, 3], [4, 5, 6]]):
        with pytest.raises(ModelError, match="shape"):
            m.solve(hint={x: wrong})


def test_values_that_are_tuples_stay_elements_of_arrays() -> None:
    m = Model()
    e = m.enum_var("e", [(1, 2), (3, 4)])
    task = m.interval("task", (2, 2), 1)
    result = m.solve(hint={e: (3, 4)})
    assert list(result[[e, e]]) == [(3, 4), (3, 4)]
    assert list(result[[task, task, task]]) == [(2, 1, 3)] * 3
    only = Model()
    only.enum_var("e", [(1, 2), (3, 4)])
    assert [row[0] for row in only.iter_solutions().to_numpy()] == [(1, 2), (3, 4)]


def test_callbacks_are_checked_before_the_search() -> None:
    m, x, _ = _model()
    m.add(x == 5, weight=2)
    with pytest.raises(ModelError, match="on_solution"):
        m.solve(on_solution=3)  # type: ignore[call-overload]


def test_a_relaxation_of_nothing_violates_nothing() -> None:
    m = Model()
    m.int_var("x", 0, 3)
    assert m.relax().violation == 0
    x = m.variables["x"]
    m.add(x == 2, weight=3)
    assert m.relax().violation == 0


def test_the_number_of_solutions_is_named_in_errors() -> None:
    m, x, _ = _model()
    for wrong in (-1, 2.5, "3"):
        with pytest.raises(ModelError, match="the number of solutions"):
            m.best_solutions(wrong, minimize=x)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "options", [{}, {"engine": "interpreted"}, {"learn": True}, {"lns": True, "time_limit": 20}]
)
def test_each_solution_that_is_told_is_better_than_the_last(options: dict[str, Any]) -> None:
    m = Model()
    x, y, z = (m.int_var(name, 0, 4) for name in "xyz")
    m.add(x + y + z >= 4, x * y != 4)
    for is_soft in (True, False):
        if is_soft:
            m.add(x == 3, weight=2, name="wish")
            m.add(y == 3, z == 2, weight=1, name="wish")
        told: list[Any] = []
        best = m.solve(maximize=y - z, minimize=[x, 0.5 * z], on_solution=told.append, **options)
        costs = [(one.violation or 0, z_y, one[x], one[z]) for one in told for z_y in [one[z] - one[y]]]
        assert costs == sorted(set(costs), reverse=True)
        assert told[-1].objective == best.objective
        if is_soft:
            m.remove("wish")


def test_a_list_of_goals_has_a_tuple_of_values() -> None:
    m = Model()
    x, y = m.int_var("x", 0, 3), m.int_var("y", 0, 3)
    m.add(x + y >= 2)
    seen: list[object] = []
    result = m.solve(minimize=[x], on_solution=lambda found: seen.append(found.objective))
    assert (result.objective, result.bound, result.gaps) == ((0,), (0,), (0.0,))
    assert seen
    assert all(isinstance(one, tuple) for one in seen)
    assert m.solve(minimize=[(x, "max")]).objective == (3,)
    assert m.solve(maximize=[0.5 * x]).objective == (1.5,)
    assert m.solve(minimize=x).objective == m.solve(minimize=x, maximize=None).objective == 0
    assert m.solve(minimize=[x, y]).objective == (0, 2)
    xs = m.int_vars("z", 1, 2, 5)
    assert m.solve(minimize=xs).objective == (2,)
    m.minimize(x)
    assert m.solve(minimize=[]).objective == m.solve().objective == 0
    m.add(x == 0, name="soft", weight=2)
    assert m.solve(maximize=[x]).objective == (0,)
