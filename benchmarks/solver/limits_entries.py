"""Entry points for `limits.py`: every call that takes a limit, on a model and what is to be minimised.

An entry gives its answer in a few letters. It calls `begun` where what came before is not to be counted, such
as writing a file for a command.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

Entry = Callable[[Any, Any, float, Callable[[], None]], object]


def _solve(**options: Any) -> Entry:
    def entry(model: Any, goal: Any, limit: float, begun: Callable[[], None]) -> object:
        result = model.solve(minimize=goal, time_limit=limit, **options)
        return result.status.value

    return entry


def _feasible(**options: Any) -> Entry:
    def entry(model: Any, goal: Any, limit: float, begun: Callable[[], None]) -> object:
        return model.solve(time_limit=limit, **options).status.value

    return entry


def _prefer(model: Any, goal: Any, limit: float, begun: Callable[[], None]) -> object:
    firsts = list(model.variables.values())[:5]
    return model.solve(prefer=[(v, "max") for v in firsts], time_limit=limit).status.value


def _assumed(model: Any, goal: Any, limit: float, begun: Callable[[], None]) -> object:
    """No solution under the assumptions: the guilty ones are looked for in the same time."""
    firsts = list(model.variables.values())[:20]
    assumptions = [*[v >= 0 for v in firsts], goal <= -(10**12)]
    result = model.solve(assumptions=assumptions, time_limit=limit)
    guilty = "" if result.conflict is None else f" {len(result.conflict.constraints)}"
    return result.status.value + guilty


def _listed(**options: Any) -> Entry:
    def entry(model: Any, goal: Any, limit: float, begun: Callable[[], None]) -> object:
        return sum(1 for _ in model.iter_solutions(time_limit=limit, **options))

    return entry


def _limited(call: Callable[[Any, Any, float], object]) -> Entry:
    """An entry that may say that the limit did not suffice."""

    def entry(model: Any, goal: Any, limit: float, begun: Callable[[], None]) -> object:
        from constrint import LimitError

        try:
            return call(model, goal, limit)
        except LimitError:
            return "limit"

    return entry


def _set(model: Any, goal: Any, limit: float) -> object:
    return f"{float(model.solutions(time_limit=limit).size):.3g}"


def _pareto(model: Any, goal: Any, limit: float) -> object:
    first = next(iter(model.variables.values()))
    return len(model.pareto([(goal, "min"), (first, "max")], time_limit=limit))


def _explain(model: Any, goal: Any, limit: float) -> object:
    model.add(goal <= -(10**9))
    conflict = model.explain(time_limit=limit)
    return conflict is not None and len(conflict.constraints)


def _conflicts(model: Any, goal: Any, limit: float) -> object:
    model.add(goal <= -(10**9))
    return len(model.conflicts(limit=3, time_limit=limit))


def _relaxed(model: Any, goal: Any, limit: float) -> object:
    model.add(goal <= -(10**9))
    return model.relax(time_limit=limit).status.value


def _some(model: Any, goal: Any, limit: float) -> object:
    return model.count(variables=list(model.variables)[:3], time_limit=limit)


def _plan(model: Any, goal: Any, limit: float) -> object:
    return len(str(model.plan(time_limit=limit)).splitlines())


def _text(model: Any, goal: Any) -> str:
    return str(model.to_text())


def _json(model: Any, goal: Any) -> str:
    return str(model.to_json())


def _impossible(model: Any, goal: Any) -> str:
    model.add(goal <= -(10**9))
    return str(model.to_json())


def _command(flags: list[str], write: Callable[[Any, Any], str] = _json, ending: str = ".json") -> Entry:
    """The command `constrint` on a file, reading included."""

    def entry(model: Any, goal: Any, limit: float, begun: Callable[[], None]) -> object:
        from click.testing import CliRunner

        from constrint.cli.main import app

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"model{ending}")
            path.write_text(write(model, goal), encoding="utf-8")
            begun()
            with contextlib.redirect_stdout(io.StringIO()):
                words = [flags[0], str(path), *flags[1:], "--time-limit", str(limit)]
                result = CliRunner().invoke(app, words)
        return _ending(result)

    return entry


def _flatzinc(flags: list[str]) -> Entry:
    """The command `fzn-constrint`, on the models whose constraints are linear."""

    def entry(model: Any, goal: Any, limit: float, begun: Callable[[], None]) -> object:
        from click.testing import CliRunner
        from limits_flatzinc import flatzinc

        from constrint.cli.flatzinc import app

        text = flatzinc(model, goal)
        if text is None:
            return "none"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "model.fzn")
            path.write_text(text, encoding="utf-8")
            begun()
            result = CliRunner().invoke(app, [*flags, str(path), "-t", str(round(1000 * limit))])
        return _ending(result) + " " + result.output.strip()[-12:]

    return entry


def _ending(result: Any) -> str:
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return f"exit {result.exit_code}"


ENTRIES: dict[str, Entry] = {
    "best": _solve(),
    "first": _feasible(),
    "prefer": _prefer,
    "assumed": _assumed,
    "learn": _solve(learn=True),
    "branch": _solve(learn=False),
    "lns": _solve(lns=True),
    "restarts": _solve(restarts="luby"),
    "interpreted": _solve(engine="interpreted"),
    "workers": _solve(workers=2),
    "cp-sat": _solve(backend="cp-sat"),
    "list": _listed(),
    "list-workers": _listed(workers=2),
    "count": _limited(lambda model, _, limit: model.count(time_limit=limit)),
    "count-searched": _limited(lambda model, _, limit: model.count(time_limit=limit, engine="interpreted")),
    "count-workers": _limited(lambda model, _, limit: model.count(time_limit=limit, workers=2)),
    "set": _limited(_set),
    "pareto": _limited(_pareto),
    "explain": _limited(_explain),
    "best-solutions": _limited(
        lambda model, goal, limit: len(model.best_solutions(3, minimize=goal, time_limit=limit))
    ),
    "diverse-solutions": _limited(lambda model, _, limit: len(model.diverse_solutions(3, time_limit=limit))),
    "conflicts": _limited(_conflicts),
    "corrections": _limited(lambda model, _, limit: len(model.corrections(limit=3, time_limit=limit))),
    "relax": _limited(_relaxed),
    "count-some": _limited(_some),
    "plan": _limited(_plan),
    "cli": _command(["solve"], _text, ".constrint"),
    "cli-json": _command(["solve"]),
    "cli-infeasible": _command(["solve"], _impossible),
    "cli-count": _command(["solve", "--count"]),
    "cli-all": _command(["solve", "--all", "--limit", "100"]),
    "cli-sample": _command(["solve", "--sample", "3"]),
    "cli-space": _command(["space"]),
    "cli-explain": _command(["explain"], _impossible),
    "cli-check": _command(["check", "--explain"]),
    "cli-convert": _command(["convert", "-", "--to", "lp"]),
    "cli-convert-text": _command(["convert", "-", "--to", "constrint"]),
    "cli-fmt": _command(["fmt"], _text, ".constrint"),
    "fzn": _flatzinc([]),
    "fzn-all": _flatzinc(["-a"]),
}
