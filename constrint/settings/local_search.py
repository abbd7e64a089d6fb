"""`LocalSearchSettings`: sizes of the local search for a first solution, and its limits."""

from __future__ import annotations

from constrint.settings.record import Record


class LocalSearchSettings(Record):
    """Settings of `constrint.local_search` and `search.feasibility_jump`.

    The local search finds the colours of 150 vertices in 0.24 s, over the limit without
    (`benchmarks/solver/first_solutions.py`).
    """

    # Rows
    most_entries: int = 2_000_000  # of all rows; memory
    one_left_out: int = 4  # at most one of so many constraints may have no rows

    # Annealing: variables of all constraints, a second of building; numbers that a function looks up, or of
    # the values of a decided variable.
    most_annealed: int = 150_000
    most_numbers: int = 100_000

    # A step: violated rows of which variables are tried; variables of a row; values of a variable of a wide
    # range; and units after which no more is tried, as deadlines are checked between steps. With that limit,
    # the first step of a count with 20,000 rows takes 0.34 million units.
    rows_of_step: int = 3
    variables_of_row: int = 12
    values_of_wide: int = 24
    work_of_step: int = 1 << 18
    anyway: int = 2  # in a hundred: how often a move is made that loses
    heavy: int = 1 << 20  # a weight at which all are halved

    # The tree search from a point without violated rows, of which some constraints may have no rows.
    failures_of_dive: int = 100
    nodes_of_dive: int = 4  # for each variable, and each of those failures
    most_dives: int = 8  # that fail, before the local search gives up
    scattered: int = 4  # after one that fails, one of so many variables is given a random value

    slice: int = 5_000  # units between two deadline checks, interpreted
    compiled_slice: int = 20_000_000

    # Annealing: moves of a stage for each decided variable in the first cooling, and most of a later one;
    # stages of a cooling, after each of which a sixteenth of the temperature is lost.
    moves_of_stage: int = 20
    longest_stage: int = 1 << 24
    stages: int = 80
    annealed_slice: int = 2_000  # units between two deadline checks, interpreted
