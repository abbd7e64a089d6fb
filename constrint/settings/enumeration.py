"""`EnumerationSettings`: when optima are enumerated in tables of rows, and how large those may be."""

from __future__ import annotations

from constrint.settings.record import Record


class EnumerationSettings(Record):
    """Settings of `constrint.enumeration`, and of its choice in `search.choose`.

    Tables win the tiling of 1 x 512 four times, 3 to 5 ms instead of up to 29 by search, and lose 14 times on
    a bin packing that they don't solve; so they are tried for little, and where products, quotients and the
    like are an eighth of the constraints, or goals follow one another.
    """

    share_of_arithmetic: float = 1 / 8
    least_combinations: int = 16_384  # of values; smaller searches end before numpy is loaded (80 ms)
    most_columns: int = 4096  # open variables; what others depend on is noted for each
    most_work: int = 2_000_000  # rows evaluated by all constraints together, some ten nanoseconds each

    most_rows: int = 8192  # of a part: columns stay in the processor's cache
    first_rows: int = 2048  # of the first part: an early solution prunes more rows
    # A variable of the goals may have this many times the values of the otherwise best one.
    size_of_goal: int = 4
    few_rows: int = 1 << 16  # these take a few milliseconds in any case
    operations_of_free: int = 4  # for each free variable: with so many constraints, few rows survive
    deepest: int = 100  # most nested multiplications of rows by a variable
    cells_of_row: int = 4  # copied for the time of evaluating a row

    call: int = 1_000  # rows that one call for all rows of a table is counted as, besides
    # From this many rows on, columns are copied on demand, as most rows are dead by then: the tiling of
    # 1 x 1024 takes 3.8 ms, 6.2 without.
    lazy_rows: int = 256
    most_origins: int = 3  # tables whose columns are still to be copied
    kept: float = 0.75  # dead rows are dropped when less than this share is alive
    widest_lookup: int = 1 << 16  # widest span of explicit values with a lookup table
    weight_of_defined: int = 4  # factor of the weight of variables that others may define
