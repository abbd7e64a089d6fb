"""`Options`: the validated search arguments of a call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import TYPE_CHECKING, Literal, TypeAlias

from constrint.expr import IntExpr
from constrint.modelling.result import Result
from constrint.preparing.branching import Brancher
from constrint.preparing.proof import Proof
from constrint.preparing.restart_rules import Restarts

if TYPE_CHECKING:
    from constrint.preparing.prepared import Prepared
    from constrint.preparing.search_protocol import Search, SearchFactory

Engine: TypeAlias = Literal["auto", "interpreted", "compiled"]
Learning: TypeAlias = bool | Literal["auto"]
OnSolution: TypeAlias = Callable[[Result], bool | None]


@dataclass(frozen=True, slots=True)
class Options:
    """The search options of a call.

    Attributes:
        time_limit: Seconds after which to stop, or None.
        seed: Seed of random choices.
        engine: "auto", "interpreted" or "compiled".
        brancher: How to branch.
        learn: Whether to learn clauses if the numbers fit int64; "auto": if search proves long.
        proof: The proof of the learning search, or None.
        restarts: When to restart, or None.
        lns: Whether to use large-neighbourhood search.
        on_solution: Called with each better solution; search ends if it returns False.
        watch: Called with the search at intervals.
        on_prepared: Called with the model after presolve, before the search is chosen, or None.
        sharing: Factory of searches that share one tree among many workers; None for one worker.
        workers: How many threads of this process a portfolio may use.
        hint: Values that are tried first, by variable.
        is_solution: Whether the hint is a complete solution; then it leads searches near a solution only.
    """

    time_limit: float | None = None
    seed: int = 0
    engine: Engine = "auto"
    brancher: Brancher = field(default_factory=Brancher)
    learn: Learning = False
    proof: Proof | None = None
    restarts: Restarts | None = None
    lns: bool = False
    on_solution: OnSolution | None = None
    watch: Callable[[Search], None] | None = None
    on_prepared: Callable[[Prepared, Options], None] | None = None
    sharing: SearchFactory | None = None
    workers: int = 1
    hint: Mapping[IntExpr, int] | None = None
    is_solution: bool = False

    def watched(self, watch: Callable[[Search], None]) -> Options:
        """The same options with another watcher; `dataclasses.replace` takes twice as long."""
        values = [*_values(self)]
        values[_WATCH] = watch
        return Options(*values)


_NAMES = [one.name for one in fields(Options)]
_WATCH = _NAMES.index("watch")
_values = attrgetter(*_NAMES)
