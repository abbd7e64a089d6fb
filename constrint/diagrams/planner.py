"""The planner: a finite model becomes independent layered diagrams of its solutions.

The steps, each a module of `constrint.diagrams`: conditions become terms (`terms`, `functions`, `translate`).
Conditions on one variable narrow its values; the others connect variables into components (`order`). Each
component is bound variable by variable, in an order chosen by estimated work (`layers`; `joins` chooses the
values to try, `intervals` prunes). The result is a diagram (`diagram`) for counts, numbers and samples.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Protocol

import numpy as np

from constrint.diagrams.boxed_domains import MOST_VALUES, boxed_domains, is_wide, listed
from constrint.diagrams.diagram import Diagram, Layer, smallest_type
from constrint.diagrams.evaluate import Frame, Parts
from constrint.diagrams.layers import EdgeBudget, LayerBuilder, TooLargeDiagram, planning
from constrint.diagrams.order import VariableOrder, components
from constrint.diagrams.sums import count_sum
from constrint.diagrams.terms import FLOAT, INT64, Array, Term, Terms, Unsupported
from constrint.diagrams.translate import Translator, conjuncts
from constrint.diagrams.wide import Subproblem, count_wide
from constrint.errors import LimitError
from constrint.expr import IntExpr
from constrint.expr.domain import Domain
from constrint.support.deadline import Deadline, check_deadline

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from constrint.modelling.declarations import Declarations

MOST_ORDERED = 40_000  # variables times conditions of a component, beyond which no order is searched for
# The most estimated rows for counting by a diagram; beyond, search counts.
COUNTED_ESTIMATE = 1e9
COUNTED_ROWS = 50_000_000

Maker = Callable[[LayerBuilder, float], Diagram]
"""Makes the diagram of a component with an expected number of rows: here, or in parallel."""


class Condition(Protocol):
    """A condition before its translation to a term."""

    scope: int
    """Set of its variables."""

    def term(self, terms: Terms) -> Term:
        """The term of the condition."""


@dataclass
class Numbering:
    """The numbers of a model's variables, and the translator of its expressions.

    Attributes:
        numbers: Number of each variable by name.
    """

    numbers: dict[str, int]
    _made: Translator | None = None

    def translator(self, terms: Terms) -> Translator:
        """The translator of the model's expressions into terms."""
        if self._made is None or self._made.terms is not terms:
            self._made = Translator(terms, self.numbers)
        return self._made


@dataclass
class ModelCondition:
    """A condition of a model.

    Attributes:
        expr: The expression.
        numbering: The numbers of the model's variables.
        scope: Set of its variables.
    """

    expr: IntExpr
    numbering: Numbering
    scope: int = 0

    def __post_init__(self) -> None:
        check_deadline()
        for variable in self.expr.variables():
            number = self.numbering.numbers.get(variable.name)
            if number is None:
                raise Unsupported(f"'{variable.name}', which is not a variable of this model")
            self.scope |= 1 << number

    def term(self, terms: Terms) -> Term:
        """The term of the condition."""
        return self.numbering.translator(terms).condition(self.expr)


@dataclass
class Component:
    """A component, and how its solutions were found.

    Attributes:
        diagram: Their solutions.
        kinds: The kind of join of each layer.
        conditions: Number of conditions.
        estimate: Expected rows.
    """

    diagram: Diagram
    kinds: list[str] = field(default_factory=list)
    conditions: int = 0
    estimate: float = 0.0


class Planner:
    """Plans and builds the diagrams of one set of conditions.

    Attributes:
        domains: Values of each variable, ascending; None if there are too many to list.
        limits: Least and greatest value of each variable.
        feasible: False if it is proven already that there is no solution.
    """

    def __init__(
        self,
        domains: Sequence[Array | None],
        limits: Sequence[tuple[int, int]],
        conditions: Sequence[Condition],
    ) -> None:
        self.domains = list(domains)
        self.limits = list(limits)
        self.feasible = all(domain is None or len(domain) for domain in domains)
        self._conditions = list(conditions)
        self.terms: Terms | None = None
        self.open: list[Term] = []
        if self.feasible:
            self._narrow()

    def _narrow(self) -> None:
        """Apply conditions on one variable; the others become terms over the remaining values."""
        pending = self._conditions
        fixed = 0
        while True:
            for v, domain in enumerate(self.domains):
                if domain is not None and len(domain) == 1:
                    fixed |= 1 << v
            unary: list[Condition] = []
            others: list[Condition] = []
            for condition in pending:
                check_deadline()
                few = (condition.scope & ~fixed).bit_count() <= 1
                (unary if few else others).append(condition)
            if not unary:
                break
            pending = others
            later = self._apply(unary)
            if not self.feasible:
                return
            pending += later
            if later:
                break
        terms = self.terms = Terms(self.domains, self.limits)
        found: dict[Term, None] = {}
        for condition in pending:
            check_deadline()
            found.update(dict.fromkeys(terms.conjuncts(condition.term(terms))))
        if any(term is terms.false or (not term.mask and not _is_true(term)) for term in found):
            self.feasible = False
        self.open = [term for term in found if term.mask]
        for term in self.open:
            check_deadline()
            if term.op in ("le", "eq"):
                self._tighten(term)

    def _apply(self, unary: Sequence[Condition]) -> list[Condition]:
        """Narrow domains by conditions on one variable; returns those whose variable is not listed."""
        terms = Terms(tuple(self.domains), tuple(self.limits))
        parts = Parts(terms)
        later = []
        for condition in unary:
            check_deadline()
            term = condition.term(terms)
            if not term.mask:
                self.feasible = self.feasible and _is_true(term)
                continue
            v = term.mask.bit_length() - 1
            domain = self.domains[v]
            original = terms.domains[v] if v < len(terms.domains) else None
            if domain is None or original is None:
                later.append(condition)
                continue
            frame = Frame(parts, 0, term.mask, {terms.var(v): domain}, None)
            good = np.broadcast_to(frame.holds(term), len(domain))
            self._keep(v, domain[good])
        return later

    def _keep(self, v: int, domain: Array) -> None:
        self.domains[v] = domain
        if not len(domain):
            self.feasible = False
        elif domain.dtype != FLOAT:
            self.limits[v] = int(domain[0]), int(domain[-1])

    def _tighten(self, term: Term) -> None:
        """Drop values that a linear condition, or a product with a known value, excludes."""
        coefficients, bound = term.data
        if term.op == "eq" and len(term.args) == 1 and term.args[0].op == "mul" and bound:
            for factor in term.args[0].args:
                domain = self.domains[factor.data] if factor.op == "var" else None
                if domain is not None and domain.dtype == INT64 and abs(bound) < 1 << 62:
                    divisor = np.where(domain == 0, 1, domain)
                    good = (domain != 0) & (bound % divisor == 0)
                    if not good.all():
                        self._keep(factor.data, domain[good])
        least = sum(a * (arg.lo if a > 0 else arg.hi) for a, arg in zip(coefficients, term.args, strict=True))
        for a, arg in zip(coefficients, term.args, strict=True):
            domain = self.domains[arg.data] if arg.op == "var" else None
            if domain is None or domain.dtype != INT64 or not len(domain):
                continue
            rest = bound - (least - a * (arg.lo if a > 0 else arg.hi))
            cut = rest // a if a > 0 else -(rest // -a)
            if a > 0 and cut < domain[-1]:
                self._keep(arg.data, domain[: np.searchsorted(domain, max(cut, int(domain[0]) - 1), "right")])
            elif a < 0 and cut > domain[0]:
                self._keep(arg.data, domain[np.searchsorted(domain, min(cut, int(domain[-1]) + 1), "left") :])

    def components(self) -> list[tuple[list[int], list[Term]]]:
        """The components: variables and the conditions that connect them."""
        found: list[tuple[list[int], list[Term]]] = [
            (variables, []) for variables in components(len(self.domains), self.open)
        ]
        group_of = {v: number for number, (variables, _) in enumerate(found) for v in variables}
        for term in self.open:
            check_deadline()
            found[group_of[term.mask.bit_length() - 1]][1].append(term)
        return found

    def count(self, budget: EdgeBudget) -> int:
        """The number of solutions; single sums are counted without a diagram."""
        if not self.feasible or self.terms is None:
            return 0
        total = 1
        left = []
        for variables, conditions in self.components():
            if not conditions:  # free to take any value, even if they are too many to list
                total *= math.prod(self._values(v) for v in variables)
                continue
            number = count_sum(self.terms, conditions, variables)
            if number is None:
                left.append((variables, conditions))
            else:
                total *= number
        if not total:
            return 0
        built = self._build(left, budget)
        return total * math.prod(component.diagram.size for component in built) if built or not left else 0

    def _values(self, v: int) -> int:
        domain, (lo, hi) = self.domains[v], self.limits[v]
        return hi - lo + 1 if domain is None else len(domain)

    def build(self, budget: EdgeBudget, maker: Maker | None = None) -> list[Component]:
        """The diagrams of all components; empty if there is no solution."""
        if not self.feasible or self.terms is None:
            return []
        return self._build(self.components(), budget, maker)

    def builder(self, order: Sequence[int], budget: EdgeBudget) -> LayerBuilder:
        """The builder of the component of these variables, in this order."""
        assert self.terms is not None
        mask = sum(1 << v for v in order)
        conditions = [term for term in self.open if term.mask & mask]
        return LayerBuilder(self.terms, Parts(self.terms), conditions, order, budget)

    def _build(
        self, groups: Sequence[tuple[list[int], list[Term]]], budget: EdgeBudget, maker: Maker | None = None
    ) -> list[Component]:
        assert self.terms is not None
        parts = Parts(self.terms)
        orders = []
        for variables, conditions in groups:
            check_deadline()
            if not conditions:
                orders.append((variables, conditions, 0.0))
                continue
            if len(variables) * len(conditions) > MOST_ORDERED:
                raise TooLargeDiagram(f"{len(conditions):,} conditions connect {len(variables):,} variables")
            order = VariableOrder(self.terms, parts, conditions, variables)
            if order.cost > budget.estimate:
                raise TooLargeDiagram(f"it would look at about {order.cost:.0e} rows")
            orders.append((order.order, conditions, order.cost))
        built = []
        for variables, conditions, cost in orders:
            check_deadline()
            if not conditions:
                built.append(Component(self._free(variables[0])))
                continue
            builder = LayerBuilder(self.terms, parts, conditions, variables, budget)
            diagram = builder.build() if maker is None else maker(builder, cost)
            if not diagram.size:
                return []
            built.append(Component(diagram, builder.kinds, len(conditions), cost))
        return built

    def _free(self, v: int) -> Diagram:
        """A variable without conditions."""
        values = self.domains[v]
        if values is None:
            raise Unsupported("a variable with too many values to list")
        if values.dtype != FLOAT:
            values = values.astype(smallest_type(*self.limits[v]))
        layer = Layer(np.array([0, len(values)]), values, np.zeros(len(values), dtype=np.int32))
        return Diagram((v,), [layer], [np.array([len(values)]), np.ones(1, dtype=np.int64)])


def _is_true(term: Term) -> bool:
    if term.op == "const":
        return bool(term.data)
    frame = Frame(Parts(Terms((), ())), 0, 0, {}, None)
    return bool(np.all(frame.holds(term)))


def plan_model(model: Declarations) -> Planner:
    """The plan of a model; raises `Unsupported` if the planner cannot handle it."""
    whole = Subproblem(list(model.variables.values()))
    for constraint in model.constraints:
        check_deadline()
        whole.conditions += conjuncts(constraint.expr)
    return _plan_subproblem(whole, boxed_domains(model))


def _plan_subproblem(subproblem: Subproblem, boxed: dict[str, Domain]) -> Planner:
    """The plan of some variables of a model with the conditions that connect them."""
    numbering = Numbering({variable.name: i for i, variable in enumerate(subproblem.variables)})
    domains, limits = listed(subproblem.variables, boxed)
    conditions: list[Condition] = [ModelCondition(part, numbering) for part in subproblem.conditions]
    return Planner(domains, limits, conditions)


def solve_all(
    model: Declarations,
    *,
    memory_limit: int | None = None,
    time_limit: float | None = None,
    executor: Executor | None = None,
    workers: int | None = None,
) -> tuple[list[Component], Planner]:
    """Diagrams of all solutions of a model; raises `Unsupported` or `TooLargeDiagram`."""
    budget = EdgeBudget.of_memory(memory_limit)
    if time_limit is not None:
        budget.deadline = perf_counter() + time_limit
    from constrint.frontends.json.model import to_json

    with planning(Deadline(time_limit)):
        planner = plan_model(model)
        return built_by(planner, budget, executor, workers, lambda: {"model": to_json(model)}), planner


def built_by(
    planner: Planner,
    budget: EdgeBudget,
    executor: Executor | None,
    workers: int | None,
    source: Callable[[], dict[str, object]],
) -> list[Component]:
    """The diagrams of all components, built here or by workers that make the same plan from `source`."""
    if executor is None and workers is None:
        return planner.build(budget)
    from constrint.diagrams.parallel_build import maker

    with maker(executor, workers, source) as making:
        return planner.build(budget, making)


def count_planned(model: Declarations, time_limit: float | None) -> int | None:
    """The number of solutions, if a diagram is likely to give it soon; None leaves it to search."""
    deadline = None if time_limit is None else perf_counter() + time_limit
    try:
        with planning(Deadline(time_limit)):
            boxed = boxed_domains(model)
            budget = EdgeBudget(COUNTED_ROWS // 2, COUNTED_ROWS, deadline, COUNTED_ESTIMATE)
            if not any(map(is_wide, boxed.values())):
                return plan_model(model).count(budget)
            factor, rest = count_wide(model, boxed, MOST_VALUES, deadline)
            return factor and factor * _plan_subproblem(rest, boxed).count(budget)
    except (Unsupported, TooLargeDiagram, OverflowError):  # search has no such limits
        return None


def limit_error(problem: Exception) -> LimitError:
    """The error for a solution set that cannot be built."""
    return LimitError(
        f"the set of all solutions cannot be built: {problem}. "
        "`iter_solutions()` finds solutions one by one instead"
    )
