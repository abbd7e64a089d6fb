"""The tasks of the state-tracking example: prefix products against products one by one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
FOLDER = Path(__file__).parents[3] / "examples" / "state_tracking"


@pytest.fixture
def tasks(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(FOLDER)
    import tasks

    yield tasks.tasks()
    sys.modules.pop("tasks")


def test_the_groups_have_their_sizes(tasks: Any) -> None:
    assert {name: (len(task.table), task.class_count) for name, task in tasks.items()} == {
        "parity": (2, 2),
        "arithmetic": (25, 5),
        "S3": (6, 6),
        "A5": (60, 60),
    }
    for name in ("S3", "A5"):
        table = tasks[name].table
        assert (table.sort(0).values == torch.arange(len(table))[:, None]).all()
        assert (table != table.T).any()


@pytest.mark.parametrize("steps", [1, 2, 13, 64])
def test_answers_are_products_one_by_one(tasks: Any, steps: int) -> None:
    for task in tasks.values():
        tokens, answers = task.drawn(5, steps, torch.Generator().manual_seed(steps))
        for row, wanted in zip(tokens, answers, strict=True):
            state = None
            for token, answer in zip(row, wanted, strict=True):
                element = int(task.tokens[token])
                state = element if state is None else int(task.table[state, element])
                assert int(task.classes[state]) == answer


def test_arithmetic_calculates(tasks: Any) -> None:
    tokens, answers = tasks["arithmetic"].drawn(20, 30, torch.Generator().manual_seed(0))
    for row, wanted in zip(tokens.tolist(), answers.tolist(), strict=True):
        value = 0
        for token, answer in zip(row, wanted, strict=True):
            kind, digit = divmod(token, 5)
            value = (value + digit, value - digit, value * digit)[kind] % 5
            assert answer == value


def test_models_go_on_where_they_stopped(tasks: Any) -> None:
    import models

    tokens, _ = tasks["S3"].drawn(2, 12, torch.Generator().manual_seed(1))
    try:
        for name in (*models.NAMES, "loop"):
            torch.manual_seed(0)
            model = models.made(name, 6, 6, 16, 1)
            with torch.no_grad():
                whole, _ = model(tokens)
                assert whole.shape == (2, 12, 6)
                if name in models.SEES_ALL:
                    changed = tokens.clone()
                    changed[:, 8:] = 0
                    torch.testing.assert_close(model(changed)[0][:, :8], whole[:, :8])
                    continue
                first, state = model(tokens[:, :7])
                rest, _ = model(tokens[:, 7:], state)
            torch.testing.assert_close(torch.cat([first, rest], 1), whole, rtol=1e-4, atol=1e-5)
    finally:
        sys.modules.pop("models")
