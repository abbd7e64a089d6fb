"""How to search: what the arguments of a call come to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from constrint.modelling.result import Result
from constrint.preparing.branching import Brancher
from constrint.preparing.proof import Proof
from constrint.preparing.restart_rules import Restarts

if TYPE_CHECKING:
    from constrint.preparing.search import Search, SearchFactory

Engine: TypeAlias = Literal["auto", "interpreted", "compiled"]
Learning: TypeAlias = bool | Literal["auto"]
OnSolution: TypeAlias = Callable[[Result], bool | None]


@dataclass(frozen=True, slots=True)
class Options:
    """How to search.

    Attributes:
        time_limit: Seconds after which to stop, or None.
        seed: Seed of random value choices.
        engine: "auto", "interpreted" or "compiled".
        brancher: How to branch.
        learn: Whether to learn from failures, where the numbers fit int64; "auto": where search proves long.
        proof: Where the learning search writes down what it proves, or None.
        restarts: When to go back to the root, or None.
        lns: Whether to search for better solutions near the best.
        on_solution: Called with each better solution; search ends where it returns False.
        watch: Called with the search now and then.
        sharing: Starts searches that many workers share; None where one searches alone.
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
    sharing: SearchFactory | None = None
