"""The model: what it is made of (`declare`), and the calls that answer it. Read this first.

A model only collects expressions. Each call of `solve`, `iter_solutions` or `count` lowers them to the
normal form (`lower`), simplifies that (`presolve`) and searches (`search`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from constrint.errors import LimitError, ModelError
from constrint.expr import BoolExpr, IntLike
from constrint.modelling.declarations import Declarations
from constrint.modelling.objectives import Direction, Goal, as_goals, goals_of
from constrint.modelling.result import Result, Status
from constrint.support.arguments import check_bytes, check_limit, check_seconds
from constrint.support.limits import Limits, budget_for, decoded, read_bytes
from constrint.support.optional import needed

if TYPE_CHECKING:
    from concurrent.futures import Executor
    from pathlib import Path

    from constrint.answers.several import Front, Solutions
    from constrint.diagrams.describe import Explanation
    from constrint.modelling.conflict import Conflict
    from constrint.preparing.branching import Branching
    from constrint.preparing.options import Engine, Learning, OnSolution
    from constrint.preparing.restart_rules import RestartRule, Restarts
    from constrint.solutions.solutionset import SolutionSet

Backend: TypeAlias = Literal["constrint", "cp-sat"]


class Model(Declarations):
    """Integer variables, constraints over them, and what to optimise; `Declarations` has its attributes."""

    @classmethod
    def of(cls, declared: Declarations) -> Model:
        """The model of what a reader declared; expressions are shared."""
        if isinstance(declared, Model):
            return declared
        model = cls(declared.name)
        declared.copy_to(model)
        return model

    def solve(
        self,
        *,
        minimize: IntLike | Sequence[IntLike | Goal] | None = None,
        maximize: IntLike | Sequence[IntLike | Goal] | None = None,
        prefer: Sequence[tuple[IntLike, Direction]] | None = None,
        assumptions: Sequence[BoolExpr] = (),
        time_limit: float | None = None,
        seed: int = 0,
        branching: Branching | None = None,
        restarts: RestartRule | Restarts | None = None,
        lns: bool = False,
        learn: Learning = "auto",
        proof: str | Path | None = None,
        on_solution: OnSolution | None = None,
        progress: bool = False,
        engine: Engine = "auto",
        backend: Backend = "constrint",
        workers: int | None = None,
        executor: Executor | None = None,
    ) -> Result:
        """Find a solution: the best one, where something is to be optimised.

        Ctrl-C ends it early with the best solution so far, if there is one.

        Args:
            minimize: An expression to minimise, or a list that is optimised lexicographically, the most
                important first; its members are expressions or (expression, "max" | "min") pairs.
            maximize: The same with an expression to maximise.
            prefer: (expression, "max" | "min") pairs: the lexicographic optimum, found by trying the values
                in this order. Faster than optimising where the expressions are variables.
            assumptions: Conditions that hold for this call only. Where they leave no solution,
                `Result.conflict` names a minimal set of guilty ones.
            time_limit: Seconds after which to stop with the best so far.
            seed: Seed of random choices.
            branching: How to branch: a `Brancher`, a list of `Group`, or a function that is shown the
                domains and gives a `Decision` (docs/constrint-search.md).
            restarts: "luby", "geometric" or `Restarts(…)`: go back to the root now and then, with nogoods
                of what was searched. Without `branching`, variables are then chosen by their failures.
            lns: Whether to look for better solutions near the best one (large-neighbourhood search): for
                good answers by a time limit, where an optimum cannot be proven soon.
            learn: Whether to learn a clause from every failure (docs/constrint-learn.md): for scheduling and
                other models of many conditions. It branches in its own way. "auto": branching first, and
                where that proves long and nothing is said of `restarts`, `lns` or `prefer`, several ways in
                turns (docs/constrint-relaxation.md). Models whose numbers need more than int64 are searched
                without; `Result.statistics.method` says which it was.
            proof: A file to write what the learning search proves to, step by step, for a checker.
            on_solution: Called with a `Result` for each better solution as it is found. Where it returns
                False, search ends with that one.
            progress: Whether to show on a terminal how far it is: the best so far, bound, gap and rate.
            engine: "auto" starts interpreted and compiles long searches; "interpreted" and "compiled"
                force one.
            backend: Who searches: this solver, or "cp-sat" (extra: cp-sat).
            workers: How many processes search, each a part of the tree (docs/constrint-parallel.md); or
                threads of the "cp-sat" backend.
            executor: Searches with the workers of any executor of `concurrent.futures` instead.

        Returns:
            The result; without any of the first three, the goals and preferences set on the model hold.
        """
        from constrint.answers.assumptions import best_assuming, solve_elsewhere
        from constrint.answers.options import options_of

        goals = goals_of(minimize, "min") + goals_of(maximize, "max")
        preferences = as_goals(prefer or ())
        if not goals and not preferences:
            goals, preferences = self.goals, self.preferences
        asked = (assumptions, goals, preferences)
        if backend != "constrint":
            return solve_elsewhere(self, backend, *asked, time_limit, seed, workers, executor)
        options = options_of(
            time_limit=time_limit,
            seed=seed,
            engine=engine,
            branching=branching,
            restarts=restarts,
            lns=lns,
            learn=learn,
            has_goal=bool(goals),
            on_solution=on_solution,
            workers=workers,
            executor=executor,
        )
        return best_assuming(self, *asked, options, proof, progress)

    def iter_solutions(
        self,
        limit: int | None = None,
        *,
        time_limit: float | None = None,
        seed: int = 0,
        branching: Branching | None = None,
        engine: Engine = "auto",
        workers: int | None = None,
        executor: Executor | None = None,
    ) -> Solutions:
        """All solutions, each once and in no promised order; at most `limit` of them.

        They are those of the model as it is now: it may be changed while they are taken. Afterwards
        `complete` of the iterator says whether a limit cut them short. The other arguments are those of
        `solve`.
        """
        from constrint.answers.options import options_of
        from constrint.answers.several import Solutions
        from constrint.search.solver import Solver

        check_limit(limit)
        options = options_of(
            time_limit=time_limit,
            seed=seed,
            engine=engine,
            branching=branching,
            workers=workers,
            executor=executor,
        )
        return Solutions(Solver(self.copy(), options), limit)

    def pareto(
        self,
        goals: Sequence[tuple[IntLike, Direction]],
        *,
        limit: int | None = None,
        time_limit: float | None = None,
        engine: Engine = "auto",
    ) -> Front:
        """The Pareto optima: solutions that none beats in one goal and equals in the others.

        Args:
            goals: (expression, "max" | "min") pairs, of equal weight.
            limit: At most so many optima.
            time_limit: Seconds after which to stop with those found so far.
            engine: As for `solve`.

        Returns:
            One solution for each combination of values of the goals, in the order of the first goal,
            the best first; `complete` says whether they are all.
        """
        from constrint.answers.several import ParetoSearch

        check_limit(limit)
        check_seconds(time_limit)
        checked = as_goals(goals)
        if not checked:
            raise ModelError('pareto needs at least one goal: [(expression, "max"), …]')
        deadline = None if time_limit is None else perf_counter() + time_limit
        return ParetoSearch(self, checked, limit, deadline, engine).run()

    def count(
        self,
        *,
        time_limit: float | None = None,
        engine: Engine = "auto",
        workers: int | None = None,
        executor: Executor | None = None,
    ) -> int:
        """The number of solutions, over the declared variables; raises `LimitError` at the time limit.

        With engine "auto" they are counted without being listed where the model's structure allows it;
        otherwise by as many workers as `solve` would have.
        """
        from constrint.answers.options import options_of
        from constrint.search.solver import Solver

        options = options_of(time_limit=time_limit, engine=engine, workers=workers, executor=executor)
        started = perf_counter()
        if engine == "auto":
            from constrint.diagrams.planner import count_planned

            planned = count_planned(self, time_limit)
            if planned is not None:
                return planned
            if time_limit is not None:
                options = replace(options, time_limit=max(0.0, started + time_limit - perf_counter()))
        return Solver(self, options).count(time_limit)

    def solutions(
        self,
        *,
        memory_limit: int | None = None,
        time_limit: float | None = None,
        executor: Executor | None = None,
        workers: int | None = None,
    ) -> SolutionSet:
        """All solutions as one compressed set: its size, any solution by number, samples, optima.

        Args:
            memory_limit: Bytes that the set may take while it is built; 2 GB by default.
            time_limit: Seconds.
            executor: Builds large sets with the workers of any executor of `concurrent.futures`.
            workers: How many workers; without an executor, threads of this process.

        Returns:
            The set. Raises `LimitError` where it cannot be built within the limits.
        """
        from constrint.solutions.build import solution_set

        check_bytes(memory_limit)
        check_seconds(time_limit)
        return solution_set(
            self, memory_limit=memory_limit, time_limit=time_limit, executor=executor, workers=workers
        )

    def plan(self) -> Explanation:
        """How `solve` searches this model, and what `solutions` and `count` build, step by step; print it."""
        from constrint.answers.plan import explain

        return explain(self)

    def explain(self, *, assumptions: Sequence[BoolExpr] = (), time_limit: float = 60.0) -> Conflict | None:
        """Why the model has no solution: a minimal set of constraints that contradict each other.

        Args:
            assumptions: Conditions that hold for this call only; they may be among the guilty.
            time_limit: Seconds; a conflict that is not minimal by then says so.

        Returns:
            The conflict; None where the model has a solution. Raises `LimitError` where the time did not
            suffice to decide which.
        """
        from constrint.answers.conflict import find_conflict
        from constrint.answers.options import options_of
        from constrint.search.solver import Solver

        started = perf_counter()
        if assumptions:
            assumed = self.copy()
            assumed.assume(*assumptions)
            return assumed.explain(time_limit=time_limit)
        result = Solver(self, options_of(time_limit=time_limit)).best([], [])
        if result:
            return None
        if result.status is Status.UNKNOWN:
            raise LimitError(f"{time_limit} s did not suffice to decide whether there is a solution")
        return find_conflict(self, time_limit=max(0.0, time_limit - (perf_counter() - started)))

    @staticmethod
    def from_text(
        text: str,
        *,
        filename: str = "<text>",
        constants: Mapping[str, int | Sequence[int]] | None = None,
        dialect: str = "constrint",
        limits: Limits | None = None,
        time_limit: float | None = None,
        memory_limit: int | None = None,
    ) -> Model:
        """Read a model from text in the constrint language.

        Args:
            text: The model.
            filename: Name of the text in messages.
            constants: Names that stand for integers, or for sequences of them, in the text.
            dialect: Which language the text is in: "constrint", "flashrnn" (the first one of this name)
                "json", "flatzinc" or "xcsp3".
            limits: How large the model may be; `Limits()` has the defaults.
            time_limit: Seconds that reading may take.
            memory_limit: Bytes that the process may grow by while it reads.

        Returns:
            The model. Raises `ParseError`, with line and column, for text that is none, `LimitExceeded` for
            a model that is larger than the limits, and `LimitError` where time or memory do not suffice.
        """
        from constrint.frontends.text.text import read_model

        budget = budget_for(limits, time_limit, memory_limit)
        read = read_model(text, filename=filename, constants=constants, dialect=dialect, budget=budget)
        return Model.of(read)

    @staticmethod
    def from_file(
        path: str | Path,
        *,
        constants: Mapping[str, int | Sequence[int]] | None = None,
        dialect: str = "constrint",
        limits: Limits | None = None,
        time_limit: float | None = None,
        memory_limit: int | None = None,
    ) -> Model:
        """Read a model from a file; see `from_text`. The ending .json, .fzn or .xml says what it is."""
        from constrint.frontends.dialects import dialect_of
        from constrint.frontends.text.text import read_model

        budget, filename = budget_for(limits, time_limit, memory_limit), str(path)
        text, dialect = decoded(read_bytes(path, budget), filename), dialect_of(filename, dialect)
        read = read_model(text, filename=filename, constants=constants, dialect=dialect, budget=budget)
        return Model.of(read)

    def to_text(self) -> str:
        """The model in the constrint language; reading it back gives the same solutions."""
        from constrint.frontends.text.model_writer import write_model

        return write_model(self)

    def to_json(self, *, indent: int | None = None) -> str:
        """The model as JSON, complete with names, places in the source and assumptions.

        Args:
            indent: Spaces for each level; None writes one line.
        """
        from constrint.frontends.json.model import to_json

        return to_json(self, indent)

    @staticmethod
    def from_json(
        text: str,
        *,
        filename: str = "<json>",
        limits: Limits | None = None,
        time_limit: float | None = None,
        memory_limit: int | None = None,
    ) -> Model:
        """Read a model from JSON, as `to_json` writes it.

        Args:
            text: The document.
            filename: Name of the document in messages.
            limits: As for `from_text`.
            time_limit: As for `from_text`.
            memory_limit: As for `from_text`.

        Returns:
            The model. Raises as `from_text` does; for JSON that is no model, `ModelError` with the place.
        """
        from constrint.frontends.json.model import from_json

        return Model.of(from_json(text, filename, budget_for(limits, time_limit, memory_limit)))

    @staticmethod
    def from_sympy(relations: Any, *, name: str = "sympy") -> Model:
        """Read sympy relations as a model; needs sympy (extra: sympy).

        Args:
            relations: One relation or several, which all hold: Eq, Le, And, Or, Contains …
            name: Name of the model.

        Returns:
            The model; its variables are the symbols, with the bounds of their assumptions.
        """
        bridge = needed("constrint.frontends.sympy.reader", "constrint[sympy]", "reading sympy relations")
        return Model.of(bridge.read_relations(relations, name))

    def to_sympy(self) -> list[Any]:
        """The variables and constraints as sympy relations; needs sympy (extra: sympy)."""
        writer = needed("constrint.frontends.sympy.writer", "constrint[sympy]", "writing sympy relations")
        return cast("list[Any]", writer.write_relations(self))

    def _repr_html_(self) -> str:
        from constrint.modelling.notebook import model_html

        return model_html(self)

    def __repr__(self) -> str:
        return f"Model({self.name!r}: {len(self.variables)} variables, {len(self.constraints)} constraints)"
