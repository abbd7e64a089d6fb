"""Permutations: `inverse`, `circuit`, `subcircuit`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

from constrint.errors import ModelError
from constrint.expr import (
    And,
    BoolExpr,
    Comparison,
    Const,
    Iff,
    IfThenElse,
    IntExpr,
    Max,
    Member,
    Min,
    Or,
    linear,
)
from constrint.expr.domain import Domain
from constrint.expr.enumerated import Valued, positions
from constrint.expr.global_arguments import expressions, relation
from constrint.expr.global_expr import Definition, Field
from constrint.globals.arcs import GivenArcs, arc_circuit, are_arcs, entry_at
from constrint.globals.different import pairwise
from constrint.globals.posting import keep_in_range, need, variables_of
from constrint.propagators import AllDifferent, AllDifferentBounds, Circuit, Inverse, Subcircuit
from constrint.propagators.circuit import is_circuit
from constrint.propagators.subcircuit import is_subcircuit
from constrint.support.deadline import watched

if TYPE_CHECKING:
    from constrint.lowering.conditions import Lowering

__all__ = ["circuit", "inverse", "subcircuit"]


def _in_range(args: tuple[IntExpr, ...]) -> list[BoolExpr]:
    return [Member(arg, Domain.of_range(0, len(args) - 1)) for arg in args]


def _post_permutation(lowering: Lowering, variables: tuple[int, ...]) -> None:
    keep_in_range(lowering, variables, len(variables))
    need(len(set(variables)) == len(variables))
    if len(variables) > 1:
        views = tuple((1, v, 0) for v in variables)
        lowering.problem.propagators += [AllDifferent(views), AllDifferentBounds(views)]


def _inverse_meaning(xs: tuple[int, ...], ys: tuple[int, ...]) -> bool:
    n = len(xs)
    return all(0 <= y < n for y in ys) and all(0 <= x < n and ys[x] == i for i, x in enumerate(xs))


def _inverse_decomposed(xs: tuple[IntExpr, ...], ys: tuple[IntExpr, ...]) -> BoolExpr:
    pairs: list[BoolExpr] = [
        Iff(Comparison("==", x, Const(j)), Comparison("==", y, Const(i)))
        for i, x in watched(enumerate(xs))
        for j, y in enumerate(ys)
    ]
    return And((*_in_range(xs), *_in_range(ys), *pairs))


def _post_inverse(lowering: Lowering, xs: tuple[IntExpr, ...], ys: tuple[IntExpr, ...]) -> None:
    left, right = variables_of(lowering, xs), variables_of(lowering, ys)
    _post_permutation(lowering, left)
    _post_permutation(lowering, right)
    lowering.problem.propagators.append(Inverse(left, right))


INVERSE = Definition(
    "inverse",
    (Field("xs", "exprs"), Field("ys", "exprs")),
    _inverse_meaning,
    _inverse_decomposed,
    _post_inverse,
    equal="xs ys",
)


def _circuit_decomposed(successors: tuple[IntExpr, ...]) -> BoolExpr:
    """The walk from node 0 returns after n steps and not before; successors outside 0 … n - 1 are clamped."""
    last = len(successors) - 1
    parts = _in_range(successors)
    at = successors[0]
    for _ in watched(range(1, len(successors))):
        parts.append(Comparison("!=", at, Const(0)))
        at = entry_at(successors, Min((Max((at, Const(0))), Const(last))))
    parts.append(Comparison("==", at, Const(0)))
    return And(tuple(parts))


def _post(cycle: type[Circuit | Subcircuit]) -> Callable[[Lowering, tuple[IntExpr, ...]], None]:
    def post(lowering: Lowering, successors: tuple[IntExpr, ...]) -> None:
        variables = variables_of(lowering, successors)
        _post_permutation(lowering, variables)
        lowering.problem.propagators.append(cycle(variables))

    return post


CIRCUIT = Definition(
    "circuit", (Field("successors", "exprs"),), is_circuit, _circuit_decomposed, _post(Circuit)
)


def _subcircuit_decomposed(successors: tuple[IntExpr, ...]) -> BoolExpr:
    """A permutation; the walk from the first node that is no loop returns after all such nodes, not before.

    Successors outside 0 … n - 1 are clamped.
    """
    last = len(successors) - 1
    on_cycle = [Comparison("!=", successor, Const(i)) for i, successor in enumerate(successors)]
    first: IntExpr = Const(last)
    for i in range(last - 1, -1, -1):
        first = IfThenElse(on_cycle[i], Const(i), first)
    length = linear([(1, condition) for condition in on_cycle])
    parts = [*_in_range(successors), pairwise(successors)]
    at: IntExpr = first
    for k in watched(range(1, len(successors))):
        at = entry_at(successors, Min((Max((at, Const(0))), Const(last))))
        parts.append(Or((Comparison("!=", at, first), Comparison("<=", length, Const(k)))))
    return And(tuple(parts))


SUBCIRCUIT = Definition(
    "subcircuit", (Field("successors", "exprs"),), is_subcircuit, _subcircuit_decomposed, _post(Subcircuit)
)


def _by_node(values: Any, what: str, axis: Any = None) -> tuple[IntExpr, ...]:
    """The expressions of nodes 0, 1, …; raises `ModelError` for arcs, and for an array of several axes.

    Args:
        values: The expressions; enumerations name nodes.
        what: Their name in messages.
        axis: The list or array whose elements the values are numbers of, if it is another one.
    """
    kept = list(values) if isinstance(values, Iterable) and not isinstance(values, str | IntExpr) else values
    if isinstance(kept, list) and kept and not hasattr(values, "shape"):
        first = kept[0]
        if isinstance(first, tuple | list) and len(first) == 3:
            raise ModelError(
                f"{what} has an arc {first!r}: give the successor of each node, {what} = [next_0, next_1, …]"
                ", or give the arcs to circuit, where a true arc from a node to itself leaves it out"
            )
    if len(getattr(values, "shape", ())) > 1:
        raise ModelError(f"{what} is an array of several axes: give one expression for each node, in a list")
    if axis is None:
        axis = values if hasattr(values, "labels") else kept
    return expressions(positions(kept, axis), what)


def inverse(xs: Iterable[Valued], ys: Iterable[Valued]) -> BoolExpr:
    """The condition that ``xs[i] == j`` exactly if ``ys[j] == i``, with 0-based indices.

    Domain consistent for each pair of values, O(n^2), with bounds-consistent `all_different` for each list
    (Cheng et al., Constraints 1999). Negated, or as a truth value, it is the conjunction of n^2 equivalences.
    """
    left, right = [list(one) if isinstance(one, Iterator) else one for one in (xs, ys)]
    return relation(INVERSE, _by_node(left, "xs", right), _by_node(right, "ys", left))


def _no_arc(given: Sequence[object]) -> object:
    """The first of some arcs that has no literal."""
    return next((one for one in given if not isinstance(one, list | tuple) or len(one) != 3), given[0])


def circuit(successors: Iterable[Valued] | GivenArcs) -> BoolExpr:
    """The condition that the successors of nodes 0, 1, … form one cycle through all of them.

    Given arcs `(tail, head, literal)` in place of successors, the condition is `arc_circuit`: the true ones
    form one cycle. Chains do not close early (Caseau and Laburthe, ICLP 1997), every node is reachable, and
    `all_different` is bounds consistent: O(n^2), weaker than domain consistency, which is NP-hard. Negated,
    or as a truth value, it is the walk of n steps from node 0, O(n^2) conditions.
    """
    if are_arcs(successors):
        return arc_circuit(cast(GivenArcs, successors))
    if isinstance(successors, list | tuple) and successors and isinstance(successors[0], list | tuple):
        raise ModelError(
            f"circuit takes the successor of each node, or arcs with literals, not {_no_arc(successors)!r}: "
            "write circuit([next_0, next_1, …]), or circuit([(0, 1, taken), …]) with a condition for each arc"
        )
    return relation(CIRCUIT, _by_node(successors, "successors"))


def subcircuit(successors: Iterable[Valued]) -> BoolExpr:
    """The condition that successors of nodes 0, 1, … form one cycle; a node off it is its own successor.

    The cycle has two nodes or more, or there is none. Chains do not close early, nodes that cannot be on a
    cycle with one that must be are left out, and `all_different` is bounds consistent: O(n^2), weaker than
    domain consistency, which is NP-hard. Negated, or as a truth value, it is the walk from the first node of
    the cycle, O(n^2) conditions.
    """
    return relation(SUBCIRCUIT, _by_node(successors, "successors"))
