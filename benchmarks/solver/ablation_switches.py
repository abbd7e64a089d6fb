"""What `ablation.py` switches off: ways of solving, presolve rules, propagators, tricks of the diagrams.

A switch is a list of replacements, each a place in the code and what stands there instead. Most take the
place of a function with what says "nothing found"; the solver then goes on without it. A switch of a kernel
also keeps the search interpreted, as the compiled engine has the kernel inside; its rows are compared with
others that are interpreted, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

from constrint.propagators import AllDifferentBounds


@dataclass(frozen=True)
class Switch:
    """Something that can be switched off.

    Attributes:
        places: ``module:name`` or ``module:class.name``, and what is put there.
        interpreted: Whether the compiled engine is left out, off and on.
    """

    places: dict[str, Any]
    interpreted: bool = False


INTERPRETED: dict[str, Any] = {
    "constrint.presolve.root:is_at_hand": lambda *_: False,
    "constrint.engine.cache:is_loaded": lambda *_: False,
    "constrint.engine.background_compile:is_due": lambda *_: False,
}


def found(place: str) -> tuple[Any, str]:
    """The object that has what a place names, and the name that it has there."""
    module, names = place.split(":")
    target: Any = import_module(module)
    *owners, last = names.split(".")
    for owner in owners:
        target = getattr(target, owner)
    return target, last


@contextmanager
def replaced(places: Mapping[str, Any]) -> Iterator[None]:
    """Other things at some places, for a while."""
    old = []
    try:
        for place, replacement in places.items():
            target, name = found(place)
            old.append((target, name, getattr(target, name)))
            _put(target, name, replacement)
        yield
    finally:
        for target, name, original in reversed(old):
            _put(target, name, original)


def _put(target: Any, name: str, value: Any) -> None:
    if isinstance(target, ModuleType | type):
        setattr(target, name, value)
    else:
        object.__setattr__(target, name, value)  # a definition is frozen


@contextmanager
def watched(interpreted: bool) -> Iterator[set[str]]:
    """What it gives has the names of the switches that were asked for, once that is known."""
    asked: set[str] = set()
    places: dict[str, Any] = {}
    for name, switch in SWITCHES.items():
        if switch.interpreted is not interpreted:
            continue
        for place in switch.places:
            target, last = found(place)
            original = places.get(place, getattr(target, last))
            if callable(original):
                places[place] = _spied(original, name, asked)
            elif original is not switch.places[place]:
                asked.add(name)  # nobody sees who reads a constant
    with replaced(places):
        yield asked


def _spied(function: Callable[..., Any], name: str, asked: set[str]) -> Callable[..., Any]:
    def spied(*args: Any, **options: Any) -> Any:
        asked.add(name)
        return function(*args, **options)

    return spied


def _yes(*_: Any) -> bool:
    return True


def _no(*_: Any) -> bool:
    return False


def _nothing(*_: Any) -> None:
    return None


def _left_out(*_: Any) -> str:
    return "left out"


def _decompositions() -> dict[str, Switch]:
    """Each global constraint that is posted in a way of its own, as what it decomposes into."""
    from constrint.globals import FAMILIES, Definition

    switches: dict[str, Switch] = {}
    posted: list[Definition] = []
    for family in FAMILIES:
        for name, found in vars(family).items():
            if isinstance(found, Definition) and (found.lower or found.literal) and found not in posted:
                posted.append(found)
                place = f"{family.__name__}:{name}"
                switches[f"global: {family.__name__.rpartition('.')[2]}.{found.name}"] = Switch(
                    {f"{place}.lower": None, f"{place}.literal": None}
                )
    return switches


def _without(table: str, method: str) -> tuple[Any, ...]:
    from constrint.search import choose

    return tuple(case for case in getattr(choose, table) if case[0] != method)


def _floor_division(problem: Any, dividend: Any, divisor: Any) -> int:
    from constrint.expr.arithmetic.division import _division
    from constrint.expr.sums import Linear

    problem.keep_between(problem.of_linear(dividend), 0, problem.huge)
    problem.keep_between(problem.of_linear(divisor), 1, problem.huge)
    return int(problem.of_linear(Linear({_division(problem, dividend.scaled(-1), divisor)[0]: -1}, 0)))


def _greatest_of_both_signs(node: Any, lowering: Any) -> Any:
    from constrint.expr.arithmetic.extremes import max_

    (arg,) = node.children
    return lowering.sum_of(lowering.kept(max_(arg, -arg)))


def _chain_of_choices(node: Any, lowering: Any) -> Any:
    return lowering.sum_of(lowering.kept(node.decomposed()))


def _bounds_unknown(frame: Any, condition: Any) -> tuple[bool, bool]:
    return False, True


def _unbroken(root: Any, *_: Any) -> Any:
    from constrint.presolve.breaking import SymmetryBroken

    return SymmetryBroken(root, root)


def _declared_order(order: Any) -> tuple[float, list[int]]:
    return order._cost(order._variables), list(order._variables)


SWITCHES: dict[str, Switch] = {
    # Ways of solving
    "way: tables of rows": Switch({"constrint.search.choose:TRIED_FIRST": _without("TRIED_FIRST", "tables")}),
    "way: brief search before presolve": Switch({"constrint.presolve.root:untouched": _nothing}),
    "way: portfolio with learning": Switch({"constrint.search.choose:MAIN": _without("MAIN", "portfolio")}),
    "way: compiled engine": Switch(INTERPRETED),
    "way: counting by diagrams": Switch({"constrint.diagrams.planner:count_planned": _nothing}),
    "way: solutions near zero": Switch({"constrint.search.start:nearby_roots": lambda *_: []}),
    "way: probes of a goal's range": Switch(
        {"constrint.search.probes:Probes.run": lambda probes: probes.root}),
    "way: dual row": Switch({"constrint.search.branch_and_bound:is_linear": _no}),
    "way: state of presolve taken over": Switch({"constrint.presolve.root:can_resume": _no}),
    "way: presolve compiled": Switch({"constrint.presolve.root:is_at_hand": _no}),
    "way: feasibility jumps": Switch({"constrint.search.admission:MemberMaker.local_search": _left_out}),
    "way: annealing": Switch({"constrint.search.admission:MemberMaker.annealing": _left_out}),
    "way: linear relaxation": Switch({"constrint.search.admission:MemberMaker.relaxation": _left_out}),
    "way: neighbourhoods led by the relaxation": Switch(
        {"constrint.search.portfolio:Portfolio._point": _nothing}),
    "way: duals in the learning search": Switch(
        {"constrint.search.portfolio:Portfolio._rows": _nothing}),
    "learning: pairs of values": Switch({"constrint.learning.values:ValueParts._join": _no}),
    "relaxation: linked rows": Switch(
        {"constrint.relaxation.linked:EquationLinks.pass_on": _nothing,
         "constrint.relaxation.linked:EquationLinks.state": _nothing}),
    # Presolve
    "presolve: systems of equations": Switch(
        {"constrint.presolve.root:narrower_classes": lambda *_: [],
         "constrint.search.near_zero:parametrised": lambda *_: {}}),
    "presolve: residues of powers": Switch({"constrint.presolve.root:check_residues": _nothing}),
    "presolve: factors and squares": Switch({"constrint.presolve.root:list_factors": _no}),
    "presolve: cycles of differences": Switch({"constrint.presolve.root:has_negative_cycle": _no}),
    "presolve: cliques": Switch({"constrint.presolve.root:with_cliques": _nothing}),
    "presolve: parallel rows": Switch({"constrint.presolve.root:without_parallel": _nothing}),
    "presolve: dominated rows": Switch({"constrint.presolve.root:without_dominated": _nothing}),
    "presolve: coefficients of 0/1 variables": Switch({"constrint.presolve.root:tightened": _nothing}),
    "presolve: machines in disjunctions": Switch({"constrint.presolve.root:add_machines": _no}),
    "presolve: symmetries": Switch({"constrint.search.admission:without_symmetries": _unbroken}),
    "presolve: joint bounds": Switch({"constrint.presolve.root:joint_bounds": lambda *_: {}}),
    "presolve: drop what is decided": Switch({"constrint.presolve.root:is_decided": _no}),
    # Lowering
    "lowering: sums of products without variables": Switch(
        {"constrint.lowering.conditions:Lowering._require_pairs": _no}),
    "lowering: congruences as divisibility": Switch(
        {"constrint.lowering.conditions:Lowering._congruence": _nothing}),
    "lowering: factors of divisors": Switch(
        {"constrint.lowering.conditions:Lowering._require_factors": _nothing}),
    "lowering: residue classes of products": Switch(
        {"constrint.lowering.problem:gcd": lambda *_: 1}),
    "lowering: bounds of sums from constraints": Switch(
        {"constrint.lowering.problem:Problem.note_at_most": _nothing}),
    "lowering: shorter sums": Switch(
        {"constrint.lowering.problem:Problem.shortened": lambda problem, linear: linear}),
    "lowering: choice by place": Switch(
        {"constrint.expr.arithmetic.choices:Selection.lower": _chain_of_choices}),
    "lowering: division rounded up": Switch(
        {"constrint.expr.arithmetic.division:_rounded_up": _floor_division}),
    "lowering: absolute values": Switch(
        {"constrint.expr.arithmetic.absolute:Abs.lower": _greatest_of_both_signs}),
    # Global constraints
    **_decompositions(),
    "all_different: bounds by itself": Switch({"constrint.globals.different:TIGHT": 0.0}),
    # Parts of propagators
    "kernel: overload check": Switch({"constrint.propagators.cumulative:has_room": _yes}, True),
    "kernel: reachability on circuits": Switch({"constrint.propagators.circuit:reaches_all": _yes}, True),
    "kernel: chains on circuits": Switch({"constrint.propagators.circuit:close_chains": _yes}, True),
    "kernel: supported divisors": Switch(
        {"constrint.propagators.divmod:keep_supported_divisors": _yes}, True),
    "kernel: divisors of a product": Switch({"constrint.propagators.product:keep_divisors": _yes}, True),
    "kernel: divisors by divides": Switch({"constrint.propagators.divides:keep_divisors_of": _yes}, True),
    "all_different: domain consistency": Switch(
        {"constrint.globals.different:AllDifferentDomain": lambda views, *_: AllDifferentBounds(views)}),
    # Diagrams
    "diagrams: one sum counted": Switch({"constrint.diagrams.planner:count_sum": _nothing}),
    "diagrams: wide variables": Switch(
        {"constrint.diagrams.planner:is_wide": _no}),
    "diagrams: values solved for": Switch({"constrint.diagrams.joins:_solved": _nothing}),
    "diagrams: values by range": Switch({"constrint.diagrams.joins:_ranges": _nothing}),
    "diagrams: values by table": Switch({"constrint.diagrams.joins:_table": _nothing}),
    "diagrams: bounds of open conditions": Switch({"constrint.diagrams.layers:bounds": _bounds_unknown}),
    "diagrams: forgotten states": Switch({"constrint.diagrams.layers:_forgettable": lambda *_: []}),
    "diagrams: order sought": Switch({"constrint.diagrams.order:VariableOrder._search": _declared_order}),
    "diagrams: order as declared, too": Switch(
        {"constrint.diagrams.order:VariableOrder._found": lambda order: [order._search()]}),
    "diagrams: conditions narrow domains": Switch(
        {"constrint.diagrams.planner:Planner._tighten": _nothing}),
}  # fmt: skip
