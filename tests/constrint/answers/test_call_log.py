"""`log=`: the lines of a call, where they go, and how often they come."""

from __future__ import annotations

import io
import logging
import random
import re
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import pytest
from click.testing import CliRunner
from goals import towards
from lowered import hasty
from random_models import build, draw_model

import constrint as ci
from constrint.answers import call_log
from constrint.answers.call_log import CallLog
from constrint.answers.presented import PresentedGoals
from constrint.cli.main import app
from constrint.modelling.result import Statistics
from constrint.search.call import WorkTotal
from constrint.support import log_target

PAGE = (Path(__file__).parents[3] / "docs" / "constrint-log.md").read_text("utf-8")
LINE = re.compile(r" *\d+\.\d\d s  (\S(?:.*?\S)?) {2,}(\S.*)")


def parts(text: str) -> list[tuple[str, str]]:
    """The kind and the text of each line."""
    found = [LINE.fullmatch(line) for line in text.splitlines()]
    assert all(found), text
    return [(one[1], one[2]) for one in found if one]


def knapsack(count: int = 40) -> tuple[ci.Model, ci.IntExpr]:
    m = ci.Model("knapsack")
    xs = m.bool_vars("x", count)
    m.add(ci.sum_((7 * i) % 31 * x + 3 * x for i, x in enumerate(xs)) <= 5 * count)
    return m, ci.sum_(((11 * i) % 37 + 5) * x for i, x in enumerate(xs))


@pytest.fixture
def every_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines follow one another without a pause."""
    original = CallLog.__init__
    monkeypatch.setattr(
        CallLog, "__init__", lambda self, *args: original(self, *args, between=0.0, first=1000, share=1e9)
    )


@pytest.mark.usefixtures("every_line")
@pytest.mark.parametrize("workers", [None, 2])
def test_what_the_log_tells_of_drawn_models_is_true(workers: int | None) -> None:
    kinds: set[str] = set()
    bounds = 0
    for seed in range(600, 630):
        drawn = draw_model(seed)
        m = drawn.build()
        m.settings = hasty()
        goal = build(drawn.objective, {**m.variables, **m.lets})
        worth = [x for s in drawn.solutions() if (x := drawn.value(drawn.objective, s)) is not None]
        for direction, sign in (("minimize", 1), ("maximize", -1)):
            out = io.StringIO()
            r = m.solve(**towards(direction, goal), engine="interpreted", workers=workers, log=out)
            told = parts(out.getvalue())
            kinds |= {kind for kind, _ in told}
            best = min((sign * x for x in worth), default=None)
            assert told[0][0] == "model"
            assert any(kind == "end" and text.startswith(r.status.value) for kind, text in told)
            solutions = [text for kind, text in told if kind == "solution"]
            values = [sign * int(re.match(r"\d+: (-?\d+)", text)[1]) for text in solutions]  # type: ignore[index]
            assert values == sorted(set(values), reverse=True), f"seed {seed}: each is better"
            assert (values[-1] if values else None) == best, f"seed {seed}"
            for kind, text in told:
                if kind == "bound" and best is not None:
                    bounds += 1
                    assert sign * int(re.match(r"-?\d+", text)[0]) <= best, f"seed {seed}"  # type: ignore[index]
    assert {"model", "presolve", "plan", "solution", "bound", "end"} <= kinds
    assert bounds > 20


@pytest.mark.usefixtures("every_line")
def test_each_kind_and_text_is_on_the_page() -> None:
    m, goal = knapsack()
    m.add(m.variables["x[0]"] + m.variables["x[1]"] <= 1, m.variables["x[1]"] + m.variables["x[0]"] <= 1)
    m.settings = hasty()
    out = io.StringIO()
    m.solve(maximize=goal, log=out, engine="interpreted")
    m.solve(maximize=[goal, m.variables["x[3]"]], on_solution=lambda r: False, log=out)
    m.solve(log=out)
    told = parts(out.getvalue())
    kinds = {kind for kind, _ in told}
    assert {"relaxation", "neighbourhoods", "learning", "tree search", "bound"} <= kinds
    assert [kind for kind in kinds if f"| `{kind}`" not in PAGE and f", `{kind}`" not in PAGE] == []
    heads = {text.split(":")[0] for kind, text in told if kind == "presolve"}
    rows = re.findall(r"^\| `presolve` \| ([^|]*)", PAGE, re.M)
    known = tuple(row.split(":")[0].split("…")[0].strip() for row in rows)
    assert [head for head in heads if not head.startswith(known)] == []
    assert "parallel rows" in heads


class Clock:
    """A time that passes when it is told to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(call_log, "perf_counter", clock)
    return clock


class Running:
    """A search that goes on and on."""

    prepared: Any = SimpleNamespace(goals=[], root=None)

    def statistics(self) -> Statistics:
        return Statistics(nodes=7)


def test_lines_come_at_most_once_a_second(clock: Clock) -> None:
    written: list[float] = []
    log = CallLog(lambda line: written.append(clock.now), 0.0, WorkTotal(), PresentedGoals([], {}, {}))
    told = log.solved(None)
    run: Any = Running()
    for tick in range(3000):
        clock.now = tick / 10
        if tick % 3 == 0:
            told(ci.Result(ci.Status.FEASIBLE, {}, tick))
        log.watch(run)
    first, later = written[:5], written[5:]
    assert first == pytest.approx([0.0, 0.3, 0.6, 0.9, 1.2])
    assert min(y - x for x, y in pairwise(later)) >= 0.999
    assert len(later) > 250


def test_neither_solutions_nor_work_keep_the_other_from_the_log(clock: Clock) -> None:
    lines: list[str] = []
    log = CallLog(lines.append, 0.0, WorkTotal(), PresentedGoals([], {}, {}))
    told = log.solved(None)
    run: Any = Running()
    for tick in range(600):
        clock.now = tick / 10
        told(ci.Result(ci.Status.FEASIBLE, {}, tick))
        log.watch(run)
    kinds = [kind for kind, _ in parts("\n".join(map(str, lines)))]
    assert min(kinds.count("search"), kinds.count("solution")) > 10


def test_long_searches_tell_of_their_work_less_and_less_often(clock: Clock) -> None:
    lines: list[str] = []
    log = CallLog(lines.append, 0.0, WorkTotal(), PresentedGoals([], {}, {}))
    run: Any = Running()
    for second in range(20_000):
        clock.now = float(second)
        log.watch(run)
    assert 100 < len(lines) < 500


@pytest.fixture
def logger() -> Iterator[logging.Logger]:
    logger = logging.getLogger(log_target.LOGGER)
    before = logger.level, logger.propagate, [*logger.handlers]
    yield logger
    logger.level, logger.propagate, logger.handlers[:] = before
    logger.setLevel(before[0])  # forgets what is known of its level


def test_logging_takes_the_lines_and_nothing_else_does(
    capsys: pytest.CaptureFixture[str], logger: logging.Logger
) -> None:
    m, goal = knapsack()
    out = io.StringIO()
    logger.addHandler(logging.StreamHandler(out))
    logger.setLevel(logging.INFO)
    m.solve(maximize=goal, log=True)
    assert parts(out.getvalue())[-1][0] == "end"
    assert out.getvalue().count("optimal, objective") == 1
    m.solve(maximize=goal)
    assert out.getvalue().count("optimal, objective") == 2
    other = io.StringIO()
    m.solve(maximize=goal, log=other)
    assert other.getvalue().count("optimal, objective") == 1
    assert out.getvalue().count("optimal, objective") == 2
    assert capsys.readouterr().out == ""


def test_the_level_of_the_root_logger_alone_asks_for_nothing(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    m, goal = knapsack()
    with caplog.at_level(logging.INFO):
        m.solve(maximize=goal)
        assert caplog.records == []
        m.solve(maximize=goal, log=True)
    assert caplog.text.count("optimal, objective") == 1
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("handler", [logging.NullHandler(), logging.StreamHandler(io.StringIO()), None])
def test_a_handler_that_takes_no_such_lines_leaves_them_to_the_output(
    handler: logging.Handler | None, capsys: pytest.CaptureFixture[str], logger: logging.Logger
) -> None:
    logger.propagate = False
    logger.setLevel(logging.INFO)
    if handler is not None:
        handler.setLevel(logging.WARNING)
        logger.addHandler(handler)
    m, goal = knapsack()
    m.solve(maximize=goal, log=True)
    assert capsys.readouterr().out.count("optimal, objective") == 1
    m.solve(maximize=goal)
    assert capsys.readouterr().out == ""


def test_nothing_is_made_without_a_log(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise AssertionError

    monkeypatch.setattr(CallLog, "__init__", fail)
    m, goal = knapsack()
    assert m.solve(maximize=goal)
    monkeypatch.delitem(sys.modules, "logging")
    monkeypatch.setattr(log_target, "log_target", fail)
    assert m.solve(maximize=goal)
    assert m.count(variables=m.variables["x[0]"]) == 2


def test_all_solutions_and_their_number() -> None:
    m = ci.Model("pairs")
    x, y = m.int_vars("x", 2, 0, 9)
    m.add(x + y <= 4)
    endings: dict[str, Callable[[io.StringIO], object]] = {
        "15 solutions, all of them": lambda out: [*m.iter_solutions(log=out)],
        "3 solutions, not all of them": lambda out: [*m.iter_solutions(3, log=out)],
        "5 solutions, all of them": lambda out: m.count(variables=x, log=out),
        "1 solution, not all of them": lambda out: m.count(on_solution=lambda r: False, log=out),
    }
    for ending, ask in endings.items():
        out = io.StringIO()
        ask(out)
        told = parts(out.getvalue())
        assert ("plan", "all solutions: tree search") in told
        assert ("end", ending) in told
    out = io.StringIO()
    assert m.count(log=out) == 15
    assert ("end", "counted by diagrams, without a search") in parts(out.getvalue())


def test_goals_are_told_as_the_user_wrote_them() -> None:
    m = ci.Model()
    x, y = m.int_var("x", 0, 9), m.int_var("y", 0, 9)
    m.add(x * y <= 7, x <= 3)
    m.add(x >= 5).soften(3)
    backends: list[Any] = ["constrint", "cp-sat"]
    for backend in backends:
        out = io.StringIO()
        m.solve(maximize=[x + 0.5 * y, y], log=out, backend=backend)
        told = parts(out.getvalue())
        assert ("end", "optimal, objective (4.5, 9), violated weight 3") in told
        assert any(kind == "solution" and "(4.5, 9), found by" in text for kind, text in told)


def test_an_infeasible_model_says_who_has_proven_it() -> None:
    m = ci.Model()
    x = m.int_var("x", 0, 9)
    m.add(x * x == 50)
    out = io.StringIO()
    m.solve(log=out, minimize=x)
    told = parts(out.getvalue())
    assert ("presolve", "there is no solution") in told
    assert ("end", "infeasible") in told


@pytest.mark.parametrize("log", [1, "yes", None, Path("log.txt")])
def test_a_log_is_a_flag_or_a_stream(log: Any) -> None:
    calls: list[Callable[[ci.Model], object]] = [
        lambda m: m.solve(log=log),
        lambda m: m.iter_solutions(log=log),
        lambda m: m.count(log=log),
    ]
    for call in calls:
        with pytest.raises(ci.ModelError, match=r"log is True, False or a text stream such as sys\.stderr"):
            call(ci.Model())


def test_streams_that_lack_characters_get_escapes() -> None:
    m = ci.Model("Größe\n2 → 3")
    m.int_var("x", 0, 3)
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    m.solve(log=stream)
    stream.flush()
    told = raw.getvalue().decode("ascii").splitlines()
    assert "Gr\\xf6\\xdfe" in told[0]
    assert "\\u2192" in told[0]


def test_the_option_of_the_command(tmp_path: Path) -> None:
    file = tmp_path / "m.constrint"
    file.write_text("x in 0..9\nx * x <= 50\nmaximize x\n")
    for options in ([], ["--json"], ["--all"], ["--count"], ["--count", "--json"]):
        plain = CliRunner().invoke(app, ["solve", str(file), *options])
        logged = CliRunner().invoke(app, ["solve", str(file), *options, "--log"])
        seconds = re.compile(r'"seconds": [\d.e-]+')
        assert seconds.sub("", logged.stdout) == seconds.sub("", plain.stdout)
        assert parts(logged.stderr)[0][0] == "model"
        assert plain.stderr == ""
    refused = CliRunner().invoke(app, ["solve", str(file), "--log", "--sample", "2"])
    assert (refused.exit_code, "--log has no meaning with --sample" in refused.output) == (2, True)


def test_minizinc_gets_the_log_on_standard_error(tmp_path: Path) -> None:
    from constrint.cli.flatzinc import app as flatzinc

    file = tmp_path / "m.fzn"
    file.write_text("var 1..9: x :: output_var; solve minimize x;")
    answer = CliRunner().invoke(flatzinc, ["-v", str(file)])
    assert answer.stdout == "x = 1;\n----------\n==========\n"
    assert parts(answer.stderr)[-1][0] == "end"


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("learn", ["auto", True])
def test_the_finder_of_several_objectives(seed: int, learn: bool | Literal["auto"]) -> None:
    rng = random.Random(seed)
    m = ci.Model()
    x = m.int_vars("x", 8, 0, 30)
    m.add(ci.all_different(x), x[0] + 2 * x[1] >= 20)
    goals = [(x * [rng.randrange(1, 9) for _ in x]).sum(), x[3] - x[7], x[2]]
    told: list[tuple[object, str]] = []
    first = m.solve(
        minimize=goals,
        learn=learn,
        on_solution=lambda one: told.append((one.objective, one.statistics.finder)),
    )
    assert (first.objective, first.statistics.finder) == told[-1]
    again = m.solve(minimize=goals, learn=learn, hint=first)
    assert (again.objective, again.statistics.finder) == (first.objective, "hint")


def test_the_finder_of_a_result() -> None:
    m, goal = knapsack(9)
    result = m.solve(maximize=goal, learn=False)
    assert result.statistics.finder == "tree search"
    assert m.solve(maximize=goal, learn=True, engine="interpreted").statistics.finder == "learning"
    assert m.solve(maximize=goal, lns=True, engine="interpreted").statistics.finder == "neighbourhoods"
    assert m.solve(maximize=goal, hint=result).statistics.finder == "hint"
    assert m.solve(maximize=goal, backend="cp-sat").statistics.finder == "cp-sat"
    m.add(goal <= -1)
    assert m.solve(maximize=goal).statistics.finder == ""
