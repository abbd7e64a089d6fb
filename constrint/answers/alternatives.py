"""The calls of `Model` for several answers, conflicts and corrections; `Model` inherits them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from constrint.errors import ModelError
from constrint.modelling.constraints import held
from constrint.modelling.declarations import Declarations
from constrint.modelling.objectives import Units, goals_of, in_written_order
from constrint.modelling.threads import of_copy
from constrint.support.arguments import check_limit, check_seconds, integer
from constrint.support.deadline import Deadline

if TYPE_CHECKING:
    from fractions import Fraction

    from constrint.answers.ranked import Distance, Ranking, Several
    from constrint.answers.subsets import Correction, Every, Measure
    from constrint.expr.rational import Coefficient
    from constrint.modelling.chosen import Chosen
    from constrint.modelling.conflict import Conflict
    from constrint.modelling.constraints import Constraint, Held
    from constrint.modelling.objectives import Targets
    from constrint.modelling.result import Result
    from constrint.modelling.soft import Weight
    from constrint.preparing.options import Engine


class Alternatives(Declarations):
    """The calls of `Model` that give several answers, or constraints to give up."""

    @of_copy
    @in_written_order
    def best_solutions(
        self,
        number: int,
        *,
        minimize: Targets | None = None,
        maximize: Targets | None = None,
        variables: Chosen | Iterable[Chosen] | None = None,
        time_limit: float | None = None,
        seed: int = 0,
        engine: Engine = "auto",
    ) -> Ranking:
        """The best solutions in the order of their objective, the best first.

        Where the model has soft constraints, the total weight of those that are violated comes first and the
        objective second, as in `solve`; `goals` of the answer lists both.

        Args:
            number: How many; fewer are given where there are no more.
            minimize: As for `solve`; without an objective, those of the model apply.
            maximize: As for `solve`.
            variables: Variables, or their names: each combination of their values is given once, with its
                best objective. All by default.
            time_limit: Seconds after which to stop with the solutions found so far.
            seed: As for `solve`.
            engine: As for `solve`.

        Returns:
            The solutions; `complete` tells whether they are proven to be the best. Where it is False, the
            last one is what was found when time ran out.
        """
        units: Units = {}
        goals = goals_of(minimize, "min", units) + goals_of(maximize, "max", units)
        several = self._several(goals, units, variables, Deadline(_checked(time_limit)), seed, engine)
        if not several.presented.goals:
            raise ModelError("best_solutions needs an objective: give minimize= or maximize=")
        return several.best(_number(number))

    @of_copy
    @in_written_order
    def diverse_solutions(
        self,
        number: int,
        *,
        minimize: Targets | None = None,
        maximize: Targets | None = None,
        within: int | Coefficient = 0,
        variables: Chosen | Iterable[Chosen] | None = None,
        distance: Distance = "hamming",
        time_limit: float | None = None,
        seed: int = 0,
        engine: Engine = "auto",
    ) -> Ranking:
        """Solutions that differ much: each is as far as possible from the nearest of those before it.

        Args:
            number: How many; fewer are given where there are no more.
            minimize: An objective: the first solution is optimal, the others are nearly so. Without one, that
                of the model applies.
            maximize: The same for maximising.
            within: How far the objective of the others may be from the optimum, in its own scale; of several
                objectives, the last one.
            variables: Variables, or their names, by which solutions differ. All by default.
            distance: "hamming" counts the variables that differ, "manhattan" adds up the differences.
            time_limit: Seconds after which to stop with the solutions found so far.
            seed: As for `solve`.
            engine: As for `solve`.

        Returns:
            The solutions; `complete` tells whether each was proven to be as far away as possible. Where it is
            False, the last one is what was found when time ran out.
        """
        if distance not in ("hamming", "manhattan"):
            raise ModelError(f'distance is "hamming" or "manhattan", not {distance!r}')
        units: Units = {}
        goals = goals_of(minimize, "min", units) + goals_of(maximize, "max", units)
        several = self._several(goals, units, variables, Deadline(_checked(time_limit)), seed, engine)
        return several.diverse(_number(number), _tolerance(within), distance)

    @of_copy
    def conflicts(
        self, *among: Held, limit: int | None = None, time_limit: float | None = 60.0
    ) -> Every[Conflict]:
        """All minimal conflicts (MUSes): sets of constraints of which each is needed for the contradiction.

        Args:
            *among: What `add` returned, or names: the conflicts are of these constraints, beside the others,
                which always hold. All constraints by default.
            limit: Maximum number of conflicts; there may be exponentially many.
            time_limit: Seconds.

        Returns:
            The conflicts, none if the model has a solution; `complete` tells whether they are all.
        """
        from constrint.answers.subsets import conflicts

        check_limit(limit)
        return conflicts(self, self._among(among), limit, Deadline(_checked(time_limit)))

    @of_copy
    def corrections(
        self, *among: Held, limit: int | None = None, time_limit: float | None = 60.0
    ) -> Every[Correction]:
        """All minimal corrections (MCSes): sets of constraints without which the model has a solution.

        Args:
            *among: What `add` returned, or names: the constraints that may be removed. All by default.
            limit: Maximum number of corrections; there may be exponentially many.
            time_limit: Seconds.

        Returns:
            The corrections; `complete` tells whether they are all. A model that has a solution has one
            correction, which is empty.
        """
        from constrint.answers.subsets import corrections

        check_limit(limit)
        return corrections(self, self._among(among), limit, Deadline(_checked(time_limit)))

    @of_copy
    def relax(
        self,
        *among: Held,
        weights: Mapping[str, Weight] | None = None,
        by: Measure = "weight",
        time_limit: float | None = None,
        seed: int = 0,
        engine: Engine = "auto",
    ) -> Result:
        """The solution that violates the constraints least (feasibility relaxation).

        Args:
            *among: What `add` returned, or names: the constraints that may be violated. All by default.
            weights: What violations cost, by the constraints' names; 1 by default.
            by: "weight": a violated constraint costs its weight. "amount": it costs its weight for each unit
                by which an inequality or equation is missed; other conditions are missed by 1.
            time_limit: Seconds after which to stop with the best solution so far.
            seed: As for `solve`.
            engine: As for `solve`.

        Returns:
            The result; `violation` is the least cost, `violated` the constraints that it is paid for.
        """
        from dataclasses import replace

        from constrint.answers.presented import PresentedGoals
        from constrint.answers.search_arguments import options_of
        from constrint.answers.subsets import amount_of
        from constrint.modelling.soft import Soft, soft
        from constrint.search.solver import Solver

        if by not in ("weight", "amount"):
            raise ModelError(f'by is "weight" or "amount", not {by!r}')
        deadline = Deadline(_checked(time_limit))
        relaxed = self.copy()
        costs = dict(weights or {})
        candidates = self._among(among)
        unknown = set(costs).difference(one.name for one in candidates)
        if unknown:
            raise ModelError(f"no constraint that may be violated is named '{min(unknown)}'")
        relaxed.disable(*candidates)
        relaxed.weights.clear()
        for one in candidates:
            entry = soft(one, costs.get(one.name or "", 1))
            relaxed.weights[one] = entry if by == "weight" else Soft(entry.weight, amount_of(one))
        presented = PresentedGoals.of(relaxed, [], {})
        options = options_of(
            time_limit=deadline.rest, seed=seed, engine=engine, learn="auto", has_goal=bool(presented.goals)
        )
        found = presented.result(Solver(relaxed, options).best(presented.goals, []))
        return found if candidates or not found else replace(found, violation=0)

    def _among(self, chosen: Sequence[Held]) -> list[Constraint]:
        """The chosen constraints that are in force, in the model's order."""
        named = set(held(self, chosen)) if chosen else set(self.constraints)
        return [one for one in self.constraints if one in named]

    def _several(
        self,
        goals: list[Any],
        units: Units,
        variables: Chosen | Iterable[Chosen] | None,
        deadline: Deadline,
        seed: int,
        engine: Engine,
    ) -> Several:
        from constrint.answers.presented import PresentedGoals
        from constrint.answers.ranked import Several
        from constrint.search.projected import projection_of

        presented = PresentedGoals.of(self, goals or self.goals, units)
        chosen = projection_of(self, variables)
        listed = list(self.variables.values()) if chosen is None else chosen
        return Several(self, presented, listed, deadline, engine, seed)


def _checked(time_limit: float | None) -> float | None:
    check_seconds(time_limit)
    return time_limit


def _number(number: object) -> int:
    if integer(number, "the number of solutions") < 0:
        raise ModelError(f"the number of solutions must not be negative, as {number} is")
    return integer(number, "the number of solutions")


def _tolerance(within: object) -> Fraction:
    from constrint.expr.rational import fraction_of, is_fraction

    exact = fraction_of(within if is_fraction(within) else integer(within, "within"))
    if exact < 0:
        raise ModelError(f"within is {within}: give a distance from the optimum, which is 0 or more")
    return exact
