"""`NeighbourhoodSettings`: how large neighbourhoods of the best solution are, and how long they are tried."""

from __future__ import annotations

from constrint.settings.record import Record


class NeighbourhoodSettings(Record):
    """Settings of `search.lns`.

    Neighbourhoods win most on assignments: "jobs to agents, 60 x 10" 0.72 s, over the limit without those led
    by the relaxation (`benchmarks/solver/neighbourhoods.py`).
    """

    failures: int = 200  # in a neighbourhood; one that reaches it was too large
    failures_of_whole: int = 500  # in the first search of the whole space
    whole_grows: float = 1.5  # factor of that with each: so the search completes
    whole_every: int = 20  # neighbourhoods between two searches of the whole space
    first_share: float = 0.15  # of the variables that are searched
    least_share: float = 0.04  # or two variables, if that is less
    larger: float = 1.15  # factor of the share after a neighbourhood that was exhausted
    smaller: float = 0.93  # after one that was cut off; two of those undo one of the other
    agreed: float = 0.9  # how much of the relaxation has a value that it agrees on
    fading: float = 0.9  # factor by which past successes of a way fade
