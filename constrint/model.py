"""The façade: `Model`, with all calls that answer questions about a model. Read this first.

A model only collects expressions. Each call of `solve`, `iter_solutions` or `count` lowers them to the normal
form (`lowering`), reasons at the root (`presolve`) and searches (`search`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any, Unpack, overload

from constrint.answers.alternatives import Alternatives
from constrint.errors import LimitError, ModelError
from constrint.expr import BoolExpr
from constrint.frontends.import_export import ImportExport
from constrint.modelling.objectives import as_goals, goals_of, in_written_order, is_list
from constrint.modelling.result import Result
from constrint.modelling.threads import of_copy
from constrint.support.arguments import check_bytes, check_function, check_limit, check_seconds
from constrint.support.deadline import Deadline

if TYPE_CHECKING:
    from concurrent.futures import Executor
    from pathlib import Path

    from constrint.answers.several import Front, Solutions
    from constrint.answers.solve_arguments import Backend, Numbers, Several, SolveArguments
    from constrint.diagrams.describe import Explanation
    from constrint.expr import IntLike
    from constrint.expr.rational import Fractional, Number
    from constrint.modelling.chosen import Chosen
    from constrint.modelling.conflict import Conflict
    from constrint.modelling.hints import Hint
    from constrint.modelling.objectives import Direction, Target, Targets, Units
    from constrint.preparing.branching import Branching
    from constrint.preparing.options import Engine, Learning, OnSolution
    from constrint.preparing.restart_rules import RestartRule, Restarts
    from constrint.solutions.solutionset import SolutionSet
    from constrint.support.log_target import Log


class Model(ImportExport, Alternatives):
    """A model over the integers: variables, constraints over them, and objectives.

    >>> from constrint import Model
    >>> m = Model("coins")
    >>> fives, eights = m.int_var("fives", 0, 20), m.int_var("eights", 0, 20)
    >>> m += 5 * fives + 8 * eights == 97
    >>> best = m.solve(minimize=fives + eights)
    >>> best.status.name, best["fives"], best["eights"], m.count()
    ('OPTIMAL', 5, 9, 2)

    Several threads may change a model and ask about it. A call answers for the model as it is when it begins.

    The calls are defined in four classes, by what they do. `Model` asks about the solutions: `solve`,
    `iter_solutions`, `count`, `solutions`, `pareto`, `explain`, `plan`. `Declarations` declares and changes:
    `int_var`, `bool_var`, `add`, `minimize`, `remove`, `scope`, … `Alternatives` gives several answers, or
    what to give up: `best_solutions`, `diverse_solutions`, `conflicts`, `corrections`, `relax`.
    `ImportExport` reads and writes: `from_file`, `to_text`, `write`, …
    """

    @overload
    def solve(self, /, *, minimize: IntLike, **options: Unpack[SolveArguments]) -> Result[int]: ...
    @overload
    def solve(self, /, *, maximize: IntLike, **options: Unpack[SolveArguments]) -> Result[int]: ...
    @overload
    def solve(self, /, *, minimize: Fractional, **options: Unpack[SolveArguments]) -> Result[Number]: ...
    @overload
    def solve(self, /, *, maximize: Fractional, **options: Unpack[SolveArguments]) -> Result[Number]: ...
    @overload
    def solve(self, /, *, minimize: Several, **options: Unpack[SolveArguments]) -> Result[Numbers]: ...
    @overload
    def solve(self, /, *, maximize: Several, **options: Unpack[SolveArguments]) -> Result[Numbers]: ...
    @overload
    def solve(
        self,
        /,
        *,
        minimize: Targets | None = None,
        maximize: Targets | None = None,
        **options: Unpack[SolveArguments],
    ) -> Result: ...
    @of_copy
    @in_written_order
    def solve(
        self,
        *,
        minimize: Targets | None = None,
        maximize: Targets | None = None,
        prefer: Sequence[tuple[Target, Direction]] | None = None,
        assumptions: Sequence[BoolExpr] = (),
        time_limit: float | None = None,
        seed: int = 0,
        branching: Branching | None = None,
        restarts: RestartRule | Restarts | None = None,
        lns: bool = False,
        learn: Learning = "auto",
        hint: Hint | None = None,
        proof: str | Path | None = None,
        on_solution: OnSolution | None = None,
        progress: bool = False,
        log: Log = False,
        engine: Engine = "auto",
        backend: Backend = "constrint",
        workers: int | None = None,
        executor: Executor | None = None,
    ) -> Result:
        """Find a solution; with an objective, the best one.

        Ctrl-C ends the search early with the best solution so far, if there is one.

        Args:
            minimize: An expression to minimise, or a list that is optimised lexicographically, the most
                important first; its members are expressions or (expression, "max" | "min") pairs. The
                objective of a list is a tuple, even if the list has one member.
            maximize: The same for maximising. With both, the one that is written first counts most.
            prefer: (expression, "max" | "min") pairs: finds the lexicographic optimum by trying values in
                this order. Faster than optimising if the expressions are variables.
            assumptions: Conditions for this call only. If they, with those of `assume`, leave no solution,
                `Result.conflict` names a minimal set of guilty ones.
            time_limit: Seconds after which to stop with the best solution so far.
            seed: Seed of random choices.
            branching: A `Brancher`, a list of `Group`, or a function from domains to a `Decision`
                (docs/constrint-search.md).
            restarts: "luby", "geometric" or `Restarts(…)`: restarts with nogoods of what was searched.
                Without `branching`, variables are then chosen by failure weights.
            lns: Large-neighbourhood search: looks for better solutions near the best one. For good solutions
                within a time limit, when an optimum is out of reach.
            learn: Clause learning (docs/constrint-learn.md): for scheduling and other models with many
                conditions. It has its own branching. "auto": branching first; if that proves long, several
                searches in turns (docs/constrint-relaxation.md), unless `restarts`, `lns` or `prefer` is
                given. Models whose numbers need more than int64 are searched without;
                `Result.statistics.method` names the method.
            hint: Values that a solution is likely to have, by variable or by name, or an earlier result: the
                search begins near them. They add to those of `hint` and replace them. No solution is lost.
            proof: A file for the proof of the learning search, for a proof checker.
            on_solution: Called with a `Result` for each better solution. If it returns False, search ends
                with that one.
            progress: Whether to show the progress on a terminal: best solution, bound, gap and rate.
            log: Whether to print a log, or the text stream for it (docs/constrint-log.md).
            engine: "auto" starts interpreted and compiles long searches; "interpreted" and "compiled" force
                one.
            backend: The solver: "constrint", or "cp-sat" (extra: cp-sat), which takes the goals,
                assumptions, `time_limit`, `seed`, `on_solution`, `progress`, `log` and `workers`.
            workers: Number of threads that search side by side, of workers that share a tree where that is
                the way to search (docs/constrint-parallel.md), or of threads of the "cp-sat" backend.
            executor: An executor of `concurrent.futures` whose workers share a tree instead.

        Returns:
            The result. Without minimize, maximize and prefer, the goals and preferences set on the model
            apply.

        Raises:
            ModelError: The arguments contradict each other.
            UnboundedError: A variable has no finite bounds.
        """
        begun, deadline = perf_counter(), Deadline.of_call(time_limit)
        from constrint.answers.assumptions import best_assuming
        from constrint.answers.presented import PresentedGoals
        from constrint.answers.search_arguments import log_of, options_of

        check_function(on_solution, "on_solution")
        if hint is not None:
            self.hint(hint)
        units: Units = {}
        goals = goals_of(minimize, "min", units) + goals_of(maximize, "max", units)
        preferences = as_goals(prefer or ())
        goals, preferences = (goals, preferences) if goals or preferences else (self.goals, self.preferences)
        presented = PresentedGoals.of(self, goals, units, is_list=is_list(minimize) or is_list(maximize))
        asked = (assumptions, presented.goals, preferences)
        told = log_of(self, log, begun, presented)
        on_solution = presented.in_user_terms(on_solution if told is None else told.solved(on_solution))
        if backend != "constrint":
            from constrint.answers.elsewhere import BackendRequest, solve_elsewhere

            request = BackendRequest(deadline.rest, seed, workers, on_solution, progress)
            own: dict[str, object] = {"branching": branching, "restarts": restarts, "lns": lns}
            own |= {"learn": learn, "proof": proof, "engine": engine, "executor": executor}
            return presented.result(solve_elsewhere(self, backend, *asked, request, own), told)
        options = options_of(
            time_limit=deadline.rest,
            seed=seed,
            engine=engine,
            branching=branching,
            restarts=restarts,
            lns=lns,
            learn=learn,
            has_goal=bool(presented.goals),
            on_solution=on_solution,
            workers=workers,
            executor=executor,
        )
        return presented.result(best_assuming(self, *asked, options, proof, progress, told), told)

    @of_copy
    def iter_solutions(
        self,
        limit: int | None = None,
        *,
        variables: Chosen | Iterable[Chosen] | None = None,
        on_solution: OnSolution | None = None,
        time_limit: float | None = None,
        seed: int = 0,
        branching: Branching | None = None,
        log: Log = False,
        engine: Engine = "auto",
        workers: int | None = None,
        executor: Executor | None = None,
    ) -> Solutions:
        """Iterate over all solutions, each once and in no particular order; at most `limit` of them.

        Later changes of the model have no effect. The iterator's `complete` tells whether these are all.

        Args:
            limit: Maximum number of solutions.
            variables: Variables, or their names, to which the solutions are projected: each combination of
                their values comes once, with one whole solution that has it.
            on_solution: Called with each solution before it is given; if it returns False, that is the last.
            time_limit: As for `solve`.
            seed: As for `solve`.
            branching: As for `solve`.
            log: As for `solve`.
            engine: As for `solve`.
            workers: As for `solve`.
            executor: As for `solve`.
        """
        begun, deadline = perf_counter(), Deadline.of_call(time_limit)
        from constrint.answers.search_arguments import log_of, options_of
        from constrint.answers.several import Solutions
        from constrint.search.all_solutions import AllSolutions
        from constrint.search.projected import projection_of

        check_limit(limit)
        options = options_of(
            time_limit=deadline.rest,
            seed=seed,
            engine=engine,
            branching=branching,
            on_solution=on_solution,
            workers=workers,
            executor=executor,
        )
        chosen = projection_of(self, variables)
        return Solutions(AllSolutions(self, options, log_of(self, log, begun)), limit, chosen)

    @of_copy
    @in_written_order
    def pareto(
        self,
        goals: Sequence[tuple[Target, Direction]] = (),
        *,
        minimize: Targets | None = None,
        maximize: Targets | None = None,
        limit: int | None = None,
        time_limit: float | None = None,
        engine: Engine = "auto",
    ) -> Front:
        """The Pareto optima: solutions that no other solution dominates.

        A solution dominates another if it is better in one goal and at least as good in the others.

        Args:
            goals: (expression, "max" | "min") pairs, of equal importance; without any, the model's.
            minimize: Expressions to minimise: further goals, in the order in which they are written.
            maximize: Expressions to maximise, likewise.
            limit: Maximum number of optima.
            time_limit: Seconds after which to stop with the optima found so far.
            engine: As for `solve`.

        Returns:
            One solution for each combination of values of the goals, in the order of the first goal, the best
            first; `complete` tells whether they are all.
        """
        begun = perf_counter()
        check_limit(limit)
        check_seconds(time_limit)
        from constrint.answers.several import ParetoSearch

        units: Units = {**self.units}
        checked = as_goals(goals, units)
        checked += goals_of(minimize, "min", units) + goals_of(maximize, "max", units)
        checked = checked or self.goals
        if not checked:
            raise ModelError('pareto needs at least one goal: maximize=[…], or [(expression, "max"), …]')
        deadline = None if time_limit is None else begun + time_limit
        return ParetoSearch(self, checked, limit, deadline, engine).run().in_units(units)

    @of_copy
    def count(
        self,
        *,
        variables: Chosen | Iterable[Chosen] | None = None,
        on_solution: OnSolution | None = None,
        time_limit: float | None = None,
        log: Log = False,
        engine: Engine = "auto",
        workers: int | None = None,
        executor: Executor | None = None,
    ) -> int:
        """The number of solutions over the declared variables, or over some of them.

        With engine "auto", solutions are counted without listing if the model's structure allows it;
        otherwise they are searched for, by as many workers as `solve` would use.

        Args:
            variables: Variables, or their names: counts the combinations of their values in solutions.
            on_solution: Called with each solution, which is searched for; if it returns False, the number so
                far is the answer.
            time_limit: As for `solve`.
            log: As for `solve`.
            engine: As for `solve`.
            workers: As for `solve`.
            executor: As for `solve`.

        Raises:
            LimitError: The time limit was reached.
        """
        begun, deadline = perf_counter(), Deadline.of_call(time_limit)
        from constrint.answers.counting import count_solutions
        from constrint.answers.search_arguments import log_of, options_of

        options = options_of(
            time_limit=time_limit, engine=engine, on_solution=on_solution, workers=workers, executor=executor
        )
        number, is_complete = count_solutions(self, options, deadline, variables, log_of(self, log, begun))
        if not is_complete:
            raise LimitError(f"counting reached its time limit of {time_limit} s; it had found {number:,}")
        return number

    @of_copy
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
            time_limit: Seconds that building may take.
            executor: Builds large sets with the workers of any executor of `concurrent.futures`.
            workers: How many workers; without an executor, threads of this process.

        Returns:
            The set.

        Raises:
            LimitError: The set cannot be built within the limits.
        """
        check_bytes(memory_limit)
        deadline = Deadline.of_call(time_limit)
        from constrint.solutions.build import solution_set

        return solution_set(
            self, memory_limit=memory_limit, time_limit=deadline.rest, executor=executor, workers=workers
        )

    @of_copy
    def plan(self, *, time_limit: float | None = None) -> Explanation:
        """How `solve` searches this model, and what `solutions` and `count` build, step by step; print it.

        Args:
            time_limit: Seconds; what is not known by then says so.
        """
        deadline = Deadline.of_call(time_limit)
        from constrint.answers.plan import explain

        return explain(self, deadline.rest)

    @of_copy
    def explain(self, *, assumptions: Sequence[BoolExpr] = (), time_limit: float = 60.0) -> Conflict | None:
        """The reason why the model has no solution: a minimal set of constraints that contradict each other.

        Args:
            assumptions: Conditions for this call only; they may be among the guilty ones.
            time_limit: Seconds. If time runs out, the conflict may not be minimal, and says so.

        Returns:
            The conflict; None if the model has a solution.

        Raises:
            LimitError: The time limit was reached before feasibility was decided.
        """
        deadline = Deadline.of_call(time_limit)
        from constrint.answers.conflict import explained

        return explained(self, assumptions, deadline, time_limit)


def read(path: str | Path, *, dialect: str | None = None, **options: Any) -> Model:
    """Read a model from a file, in the format of its ending or another one; see `Model.from_file`."""
    return Model.from_file(path, dialect=dialect or "constrint", **options)
