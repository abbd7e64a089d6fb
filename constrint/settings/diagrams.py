"""`DiagramSettings`: when diagrams are tried beside a search; `BuildingSettings`: how they are built."""

from __future__ import annotations

from constrint.settings.record import Record


class DiagramSettings(Record):
    """Settings of `answers.planned`.

    Diagrams answer where constraints prune little, such as congruences of powers: tents 2 takes 0.7 s, 2.1
    when they were tried after a second for up to two.
    """

    patience: float = 1.0  # seconds of search before; less if the call has a short limit
    seconds: float = 0.4  # that building them may take
    # They are tried once more after so many times as long, and then may take so many times as long.
    later: int = 5
    largest: int = (
        1_000  # variables, and constraints, of models that are given to them; larger are hardly small
    )
    memory: int = 256 << 20  # bytes that they may take
    share: int = 4  # with a limit, search gets one part in so many before, and building at most one


class BuildingSettings(Record):
    """Settings of building layered diagrams and of listing their solutions; the solutions depend on none."""

    few: int = 4096  # rows of a layer for which trying all values is quickest
    chunk: int = 1 << 17  # rows processed together: more than fit a core's cache take twice as long
    # Components with fewer expected rows are built here: sending them takes longer.
    least_rows: int = 1_000_000
    listed: int = 1 << 20  # solutions that a worker lists at a time
    # Rows of a model's tables together, from which they are counted by joins, and most rows of the join of
    # two. Two tables of five columns and 1,000 rows each take 6 s in layers, and below 0.1 s joined.
    least_joined: int = 200
    most_joined: int = 20_000_000  # 160 MB a column
