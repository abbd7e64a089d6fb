"""Calls that give several answers, and those that read and write models: what they say within a limit.

Each asks a case for something, with a time limit or without one, and compares what it gets with brute force.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from click.testing import CliRunner
from soak_cases import Case, Row

import constrint as ci
from constrint.cli.main import app
from constrint.frontends.formats import FORMATS

Ask = Callable[[Case, float | None], None]
NUMBER = 3  # of solutions, conflicts and corrections


def valid(case: Case, found: Sequence[ci.Result]) -> list[Row]:
    """The rows of different solutions."""
    rows = [case.row(r) for r in found]
    assert len(set(rows)) == len(rows)
    assert set(rows) <= set(case.truths)
    return rows


def best(case: Case, limit: float | None) -> None:
    found = case.model.best_solutions(NUMBER, minimize=case.goal, time_limit=limit)
    assert found.complete or limit is not None
    assert all(case.truths[row] == r.objective for row, r in zip(valid(case, found), found, strict=True))
    worth = sorted(value for value in case.truths.values() if value is not None)
    objectives = [r.objective for r in found]
    if found.complete:
        assert objectives == worth[:NUMBER]
    else:  # the last one is what was found when time ran out
        assert objectives[:-1] == worth[: max(0, len(found) - 1)]
        assert all(one >= least for one, least in zip(objectives, worth, strict=False))


def diverse(case: Case, limit: float | None) -> None:
    found = case.model.diverse_solutions(NUMBER, time_limit=limit)
    assert found.complete or limit is not None
    rows = valid(case, found)
    assert not found.complete or len(rows) == min(NUMBER, len(case.truths))

    def apart(row: Row, others: Sequence[Row]) -> int:
        return min(sum(a != b for a, b in zip(row, other, strict=True)) for other in others)

    proven = rows if found.complete else rows[:-1]
    for i, row in enumerate(proven[1:], 1):
        assert apart(row, rows[:i]) == max(apart(other, rows[:i]) for other in case.truths)


def counted_by_some(case: Case, limit: float | None) -> None:
    try:
        number = case.model.count(variables=case.names[:1], time_limit=limit)
    except ci.LimitError:
        assert limit is not None
        return
    assert number == len({row[0] for row in case.truths})


def iterated_by_some(case: Case, limit: float | None) -> None:
    solutions = case.model.iter_solutions(variables=case.names[:1], time_limit=limit)
    rows = [case.row(r) for r in solutions]
    firsts = {row[0] for row in rows}
    assert len(firsts) == len(rows)
    assert set(rows) <= set(case.truths)
    assert solutions.complete or limit is not None
    assert not solutions.complete or firsts == {row[0] for row in case.truths}


def contradicted(case: Case) -> ci.Model:
    """The model with a goal that is too good."""
    model = case.model.copy()
    least = case.best("minimize")
    model.add(case.goal <= (least if least is not None else 0) - 1)
    return model


def status_of(model: ci.Model, constraints: Sequence[Any]) -> ci.Status:
    part = model.copy()
    part.constraints[:] = constraints
    return part.solve().status


def conflicts(start: Callable[[], None]) -> Ask:
    """All minimal conflicts; `start` sets the clock back."""

    def ask(case: Case, limit: float | None) -> None:
        model = contradicted(case)
        found = model.conflicts(limit=NUMBER, time_limit=limit)
        start()
        for one in found:
            assert status_of(model, one.constraints) is ci.Status.INFEASIBLE
            for left_out in one.constraints:
                rest = [other for other in one.constraints if other is not left_out]
                assert status_of(model, rest) is not ci.Status.INFEASIBLE
        assert len({one.constraints for one in found}) == len(found)
        assert found or limit is not None or case.kind == "unbounded"

    return ask


def corrections(start: Callable[[], None]) -> Ask:
    """All minimal corrections; `start` sets the clock back."""

    def ask(case: Case, limit: float | None) -> None:
        model = contradicted(case)
        found = model.corrections(limit=NUMBER, time_limit=limit)
        start()
        for one in found:
            kept = [other for other in model.constraints if other not in one.constraints]
            assert status_of(model, kept) is not ci.Status.INFEASIBLE
            for back in one.constraints:
                again = [other for other in model.constraints if other is back or other in kept]
                assert status_of(model, again) is ci.Status.INFEASIBLE
        assert found or limit is not None or case.kind == "unbounded"

    return ask


def relaxed(start: Callable[[], None]) -> Ask:
    """The least violation; `start` sets the clock back."""

    def ask(case: Case, limit: float | None) -> None:
        model = contradicted(case)
        try:
            r = model.relax(time_limit=limit)
        except ci.UnboundedError:
            assert case.kind == "unbounded"
            return
        assert limit is not None or r.status in (ci.Status.OPTIMAL, ci.Status.INFEASIBLE)
        if r:
            start()
            kept = [one for one in model.constraints if one not in r.violated]
            assert status_of(model, kept) is not ci.Status.INFEASIBLE
            assert r.violation == len(r.violated) >= 1
            assert r.status is ci.Status.FEASIBLE or r.violation == model.relax().violation

    return ask


TEXTS = {
    "cnf": "p cnf 4 4\n1 -2 3 0\n-1 2 0\n-3 4 0\n1 2 3 4 0\n",
    "wcnf": "h 1 -2 3 0\nh -1 2 0\n3 -3 4 0\n2 -1 0\n",
    "opb": "min: +1 x1 +2 x2 -1 x3 ;\n+1 x1 +2 x2 >= 2 ;\n+3 x1 -2 x3 >= -1 ;\n",
    "flashrnn": "x * y == 12 | x == 5;\n[2, 4] <= x <= 6; y <= 12;\n",
}


def text_of(case: Case, name: str, start: Callable[[], None]) -> str | None:
    """A model in a format; None where that cannot hold it."""
    start()
    if name in TEXTS:
        return TEXTS[name]
    try:
        return case.model.to_text(dialect=name)
    except ci.ModelError:
        return None


def read(name: str, start: Callable[[], None]) -> Ask:
    """Read a format; `start` sets the clock back."""
    last: list[tuple[Case, str | None]] = []

    def ask(case: Case, limit: float | None) -> None:
        if not last or last[0][0] is not case:  # it is first asked without an end
            last[:] = [(case, text_of(case, name, start))]
            start()
        text = last[0][1]
        if text is None:
            return
        try:
            model = ci.Model.from_text(text, dialect=name, time_limit=limit)
        except ci.LimitError:
            assert limit is not None
            return
        start()
        if name in TEXTS:
            assert model.count() == ci.Model.from_text(text, dialect=name).count() > 0
        else:
            assert model.count(variables=[str(n) for n in case.names]) == len(case.truths)

    return ask


def command(flags: Sequence[str], check: Callable[[Case, int, str], None], contradict: bool = False) -> Any:
    """A command on the model as JSON; `check` gets its exit code and output."""

    def ask(case: Case, limit: float | None, tmp_path: Any) -> None:
        model = contradicted(case) if contradict else case.model
        path = tmp_path / "model.json"
        path.write_text(model.to_json(), encoding="utf-8")
        seconds = [] if limit is None else ["--time-limit", str(limit)]
        given = [str(path) if flag == "FILE" else flag for flag in flags]
        result = CliRunner().invoke(app, [*given, *seconds])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code != 3 or limit is not None or case.kind == "unbounded"
        if result.exit_code == 3:
            assert "Traceback" not in result.output
            return
        check(case, result.exit_code, result.stdout)

    ask.needs_folder = True  # type: ignore[attr-defined]  # noted for the test
    return ask


def said_conflict(case: Case, code: int, said: str) -> None:
    assert code == 1
    assert json.loads(said)["conflict"] is not None


def said_sets(kind: str) -> Callable[[Case, int, str], None]:
    def check(case: Case, code: int, said: str) -> None:
        assert code == 1
        assert json.loads(said)[kind]

    return check


def said_solutions(case: Case, code: int, said: str) -> None:
    assert code == (0 if case.truths else 1)
    if code == 0:
        found = json.loads(said)
        rows = [tuple(int(one[name]) for name in case.names) for one in found["solutions"]]
        assert len(set(rows)) == len(rows)
        assert set(rows) <= set(case.truths)


def said_space(case: Case, code: int, said: str) -> None:
    assert code in (0, 1)
    assert said.startswith("{")


def said_model(name: str) -> Callable[[Case, int, str], None]:
    def check(case: Case, code: int, said: str) -> None:
        assert code in (0, 2)  # 2: the format cannot hold the model
        assert code == 2 or ci.Model.from_text(said, dialect=name).variables

    return check


def calls(start: Callable[[], None]) -> dict[str, Any]:
    """All calls by name; `start` sets the clock back where an answer is checked by other calls."""
    found: dict[str, Any] = {
        "best_solutions": best,
        "diverse_solutions": diverse,
        "count of some": counted_by_some,
        "iter_solutions of some": iterated_by_some,
        "conflicts": conflicts(start),
        "corrections": corrections(start),
        "relax": relaxed(start),
        "cli explain": command(["explain", "--json", "FILE"], said_conflict, True),
        "cli explain all": command(["explain", "--all", "--json", "FILE"], said_sets("conflicts"), True),
        "cli corrections": command(
            ["explain", "--corrections", "--json", "FILE"], said_sets("corrections"), True
        ),
        "cli all": command(["solve", "--all", "--json", "FILE"], said_solutions),
        "cli sample": command(["solve", "--sample", "2", "--json", "FILE"], said_solutions),
        "cli space": command(["space", "--json", "FILE"], said_space),
    }
    for name, one in FORMATS.items():
        if one.reader:
            found[f"read {name}"] = read(name, start)
        if one.reader and one.writer:
            found[f"convert {name}"] = command(["convert", "FILE", "-", "--to", name], said_model(name))
    return found
