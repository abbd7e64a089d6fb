"""What `add` returns: constraints are removed, switched off and on by it, or by name."""

from __future__ import annotations

import pickle
import random
from typing import Any

import numpy as np
import pytest
from random_models import RandomModel, build, draw_model

from constrint import Handle, IntExpr, IntVar, Model, ModelError, all_different
from constrint.expr import as_bool

LIMIT = 60


def named(model: Model) -> dict[str, IntExpr]:
    return {**model.variables, **model.lets}


class Mirror:
    """A model that is changed step by step, beside a plain list of what it should hold by now.

    Entries are [number of the tree, name, whether it is on]; scopes keep copies of the list.
    """

    def __init__(self, seed: Any) -> None:
        self.random = random.Random(seed)
        self.drawn = draw_model(seed, max_depth=2, max_assignments=60)
        self.trees = list(self.drawn.constraints) or [("==", ("const", 0), ("const", 0))]
        for _ in range(5):
            self.trees.append(self.random.choice(self.trees))
        self.drawn.constraints = []
        self.model = self.drawn.build()
        self.entries: list[Any] = []
        self.handles: list[Any] = []
        self.scopes: list[Any] = []
        self.steps: list[Any] = []

    def step(self) -> None:
        kinds = ["add", "add", "add", "disable", "disable", "enable", "remove", "push", "pop", "copy", "json"]
        kind = self.random.choice(kinds)
        self.steps.append(kind)
        getattr(self, kind)()

    def add(self) -> None:
        count = self.random.choice([1, 1, 2, 3])
        name = self.random.choice([None, "a", "b"])
        numbers = [self.random.randrange(len(self.trees)) for _ in range(count)]
        built = [as_bool(build(self.trees[i], named(self.model))) for i in numbers]
        form = self.random.choice([list, tuple, iter, lambda given: np.array(given, dtype=object)])
        call = self.model.assume if self.random.random() < 0.2 else self.model.add
        handle = call(form(built), name=name) if self.random.random() < 0.7 else call(*built, name=name)  # type: ignore[operator]
        entries = [[i, name, True] for i in numbers]
        self.entries += entries
        self.handles.append((handle, entries))

    def _chosen(self) -> tuple[Handle | str | None, list[list[int | str | None]]]:
        """A handle, a name or a constraint, and the entries that it stands for."""
        present = [(h, e) for h, e in self.handles if all(any(x is y for y in self.entries) for x in e)]
        names = sorted({name for _, name, _ in self.entries if name is not None})
        if names and self.random.random() < 0.4:
            name = self.random.choice(names)
            return name, [entry for entry in self.entries if entry[1] == name]
        if not present:
            return None, []
        handle, entries = self.random.choice(present)
        if self.random.random() < 0.3:
            i = self.random.randrange(len(entries))
            return handle[i], [entries[i]]
        return handle, entries

    def _switch(self, on: bool) -> None:
        what, entries = self._chosen()
        if what is not None:
            (self.model.enable if on else self.model.disable)(what)
            for entry in entries:
                entry[2] = on

    def disable(self) -> None:
        self._switch(False)

    def enable(self) -> None:
        self._switch(True)

    def remove(self) -> None:
        what, entries = self._chosen()
        if what is not None:
            self.model.remove(what)
            self.entries = [one for one in self.entries if not any(one is other for other in entries)]

    def push(self) -> None:
        self.model.push()
        self.scopes.append((list(self.entries), [list(entry) for entry in self.entries]))

    def pop(self) -> None:
        if self.scopes:
            self.model.pop()
            entries, states = self.scopes.pop()
            for entry, state in zip(entries, states, strict=True):
                entry[:] = state
            self.entries = list(entries)

    def copy(self) -> None:
        if not self.scopes:
            self.model = self.model.copy()

    def json(self) -> None:
        if not self.scopes:
            self.model = Model.from_json(self.model.to_json())
            self.handles: list[Any] = []  # type: ignore[no-redef]

    def rebuilt(self) -> RandomModel:
        """The model with what is on, built at once."""
        drawn = self.drawn
        drawn.constraints = [self.trees[i] for i, _, on in self.entries if on]
        return drawn


def solutions(model: Model) -> list[tuple[int, ...]]:
    return sorted(tuple(s.values.values()) for s in model.iter_solutions(time_limit=LIMIT))


@pytest.mark.parametrize("seed", range(40))
def test_a_changed_model_is_the_model_that_is_built_at_once(seed: int) -> None:
    mirror = Mirror(seed)
    for _ in range(10):
        for _ in range(3):
            mirror.step()
        model, drawn = mirror.model, mirror.rebuilt()
        rebuilt = drawn.build()
        assert model.to_text().replace("a: ", "").replace("b: ", "") == rebuilt.to_text(), mirror.steps
        assert len(model.disabled) == sum(not on for _, _, on in mirror.entries)
        for handle, entries in mirror.handles:
            if handle._model is model:
                here = [any(one is other for other in mirror.entries) and one[2] for one in entries]
                assert handle.enabled == all(here)
    truth = drawn.solutions()
    assert solutions(model) == solutions(rebuilt)
    assert model.count(time_limit=LIMIT) == len(truth)
    assert bool(model.solve(time_limit=LIMIT)) == bool(truth)
    conflict = model.explain(time_limit=LIMIT)
    assert (conflict is None) == bool(truth)
    if conflict is not None:
        assert set(conflict.constraints) <= set(model.constraints)
    read = Model.from_json(model.to_json())
    assert [c.name for c in read.disabled] == [c.name for c in model.disabled]
    assert solutions(read) == solutions(model)
    read.enable(*read.disabled)
    model.enable(*model.disabled)
    assert read.to_text() == model.to_text()
    assert [c.name for c in read.constraints] == [name for _, name, _ in mirror.entries]


def small() -> tuple[Model, IntVar, IntVar]:
    m = Model()
    return m, m.int_var("x", 0, 9), m.int_var("y", 0, 9)


def test_a_handle_switches_its_constraints() -> None:
    m, x, y = small()
    handle = m.add(x <= 3, [y <= 4, (y >= 2,)], name="box")
    assert isinstance(handle, Handle)
    assert (len(handle), handle.name, handle.enabled) == (3, "box", True)
    assert repr(handle) == "box: x <= 3\nbox: y <= 4\nbox: y >= 2"
    assert m.count() == 12
    handle.disable()
    assert (m.count(), m.constraints, handle.enabled) == (100, [], False)
    assert [c.name for c in m.disabled] == ["box"] * 3
    handle.disable()
    assert len(m.disabled) == 3
    m.add(x + y == 5)
    handle.enable()
    assert [str(c) for c in m.constraints] == ["box: x <= 3", "box: y <= 4", "box: y >= 2", "x + y == 5"]
    handle.enable()
    assert len(m.constraints) == 4
    handle.remove()
    assert [str(c) for c in m.constraints] == ["x + y == 5"]
    with pytest.raises(ModelError, match=r"`box: x <= 3` is not \(or no longer\) in the model"):
        handle.remove()
    assert not handle.enabled


def test_what_is_off_is_in_no_answer_and_no_export() -> None:
    m, x, y = small()
    m.add(x + y >= 19, name="too much")
    m.add(x >= 5, name="many")
    m.disable("too much")
    assert m.solve(minimize=x).objective == 5
    assert m.explain() is None
    assert len(m.solutions()) == m.count() == len(list(m.iter_solutions())) == 50
    assert len(m.pareto([(x, "min"), (y, "max")])) == 1
    assert "19" not in m.to_text()
    assert '"enabled": false' in m.to_json()
    assert m.solve(assumptions=[x <= 5])["x"] == 5
    m.enable("too much")
    assert [c.name for c in m.explain().constraints] == ["too much"]  # type: ignore[union-attr]


def test_a_copy_and_a_pickle_have_switches_of_their_own() -> None:
    m, x, _ = small()
    handle = m.add(x <= 3, name="low")
    copy = m.copy()
    copy.disable(handle)
    assert (m.count(), copy.count(), handle.enabled) == (40, 100, True)
    m.disable(handle)
    restored = pickle.loads(pickle.dumps(m))  # noqa: S301
    restored.enable("low")
    assert (m.count(), restored.count()) == (100, 40)
    copied_off = m.copy()
    assert len(copied_off.disabled) == 1
    copied_off.enable(handle)
    assert (m.count(), copied_off.count()) == (100, 40)


def test_what_names_no_constraint_is_an_error() -> None:
    m, x, _ = small()
    m.add(x <= 3, name="capacity")
    with pytest.raises(ModelError, match="no constraint is named 'capcity'; there are: capacity"):
        m.disable("capcity")
    with pytest.raises(
        ModelError, match="a new condition does not name a constraint: give what `add` returned"
    ):
        m.remove(x <= 3)  # type: ignore[arg-type]
    other = Model()
    z = other.int_var("z", 0, 3)
    with pytest.raises(ModelError, match="`z <= 1` is not"):
        m.disable(other.add(z <= 1))
    with pytest.raises(ModelError, match="give constraints names by add"):
        other.enable("any")
    before = list(m.constraints)
    with pytest.raises(ModelError, match="no constraint"):
        m.remove("capacity", "another")
    assert m.constraints == before


def test_add_takes_arrays_lists_and_generators() -> None:
    m = Model()
    x = m.int_vars("x", 4, 0, 3)
    m.add(x <= 2)
    m.add([x[0] <= 1, [x[1] >= 1]], (x[i] <= x[i + 1] for i in range(3)))
    m.add({"unused": 1} and [all_different(x[0], x[3])])
    m.add(np.array([[x[2] >= 1], [x[3] >= 2]], dtype=object), [])
    assert len(m.constraints) == 4 + 2 + 3 + 1 + 2
    expected = [
        (a, b, c, d)
        for a in range(2)
        for b in range(max(a, 1), 3)
        for c in range(b, 3)
        for d in range(max(c, 2), 3)
        if a != d
    ]
    assert solutions(m) == expected


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([np.array([True, False])], "condition 3 is False"),
        (None, "not None: a function that builds it may have no `return`"),
        ([None], "not None"),
        (1, "not int"),
        ("low", "not the string 'low': a name is given as name='low'"),
        ({"a": 1}, "not dict"),
    ],
)
def test_what_is_no_condition_is_an_error(given: Any, message: str) -> None:
    m, x, _ = small()
    with pytest.raises(ModelError, match=message):
        m.add(x <= 3, given)
    with pytest.raises(ModelError, match=message.replace("condition 3 is False", "Python truth value")):
        m.assume([x <= 3, given])
    assert m.constraints == []


def test_a_name_is_a_string() -> None:
    m, x, _ = small()
    with pytest.raises(ModelError, match="the name of a constraint is a string, not 3"):
        m.add(x <= 3, name=3)  # type: ignore[arg-type]


def test_enabled_in_json_is_a_truth_value() -> None:
    m, x, _ = small()
    m.add(x <= 3)
    m.disable(*m.constraints)
    text = m.to_json()
    with pytest.raises(ModelError, match=r"constraints\[0\]\.enabled: enabled is true or false, not 0"):
        Model.from_json(text.replace('"enabled": false', '"enabled": 0'))
