"""`LearningSettings`: decomposition, restarts, and when a relaxation is consulted."""

from __future__ import annotations

from constrint.settings.record import Record


class LearningSettings(Record):
    """Settings of `constrint.learning`.

    Those that compiled code reads are cells of the learner's `scalar`. "hard" is the set of 56 slow rows of
    families in MiniZinc; figures of sets are geometric means.
    """

    # Literals of values
    most_values: int = 100  # of a variable that gets a literal for each; one family in MiniZinc has more
    most_cells: int = 20_000  # tables with more are not decomposed
    # Tables with a variable of more values are not, either. With 100 instead of 2,000, a crossword kept its
    # tables whole: 6.4 s, 0.75 with.
    most_values_of_table: int = 2_000
    # Elements with more values of entries are compared by bounds. Six kidney exchanges fail half as often.
    most_entries: int = 2_000
    # `all_different` of so many variables is a sum of literals for each value, of fewer a clause for each
    # pair: on 88 rows from 13 on 0.519 s, 0.559 without; photos of 11 take 1.4 s by sums, 0.87 by pairs.
    least_holders: int = 13
    most_clauses: int = 100_000  # that stand for disequalities, and the like, in all
    # Literals of differences: values of each variable, and pairs that make one true, for each value. Photo 11
    # takes 2.3 s, 11.6 by bounds.
    most_paired: int = 40
    most_of_value: int = 4

    # Sums of more terms become sums of partial sums of so many. Knapsack 300 reaches 12,280 of 12,377 in 2 s,
    # 8,486 without.
    most_terms: int = 40
    block: int = 16
    most_pairs: int = 5000  # constraints with more pairs of variables or tasks are not decomposed

    # Memory at first; it is doubled where it is full.
    first_trail: int = 1000  # entries, beside four for each variable
    # A longer trail means creeping bounds; a search without learning need not store reasons for them.
    most_trail: int = 2_000_000
    trail_of_variable: int = 20  # ... unless there are so many entries for each variable

    # Learned clauses. Those that join at most `core_levels` decision levels stay, those of at most
    # `middle_levels` while they were used in the last conflicts, and others by their activity.
    first_keep: int = 2000  # kept before the first reduction
    core_levels: int = 2
    middle_levels: int = 6
    recent: int = 4000  # conflicts

    # Clauses of so many members are shrunk: the members of one decision level become one.
    least_shrunk: int = 3

    # Restarts, by Luby's sequence: averages of levels instead took 3,313 failures, 2,929 with it.
    restart_unit: int = 64  # conflicts
    # Stretches that assume that the objective is near its proven bound, and the others while these raise the
    # bound: of 42 models at 2 s, without 26 (1.06 s), with 300 and 300 27 (1.03), with these 28 (1.01).
    stretch_below: int = 200  # conflicts
    stretch_above: int = 600
    longest_above: int = 64  # how many times longer the others become

    # Turns that follow the annotations: conflicts of each kind after which their clauses are compared; after
    # which older ones count for half; and one of how many is for following where its clauses are not shorter.
    # On 18 models one in 8 took 0.701 s, in 32 0.671.
    trial: int = 150
    lately: int = 4000
    rare: int = 32

    # Variables of a constraint whose bounds are dropped from an explanation one by one: each runs its
    # propagator again. Orthogonal pairs fail half as often.
    most_tried: int = 12

    # Searches of a resource's windows: how many runs of its time table one costs, and the most that are left
    # out while they find nothing. On 48 models of tasks a cost of 4, 8 and 16 takes 0.079, 0.078 and 0.091 s;
    # with none left out they take 0.094.
    windows_cost: int = 8
    most_skipped: int = 31

    # Consulting a relaxation. With `learn=True`, "hard" takes 0.306 s, 0.329 without.
    before_programs: int = 500  # conflicts of a search alone before it makes a relaxation
    longest_interval: int = 256  # conflicts between two checks
    # The most steps that one program may take after the first; what is left is done by the next one. Without,
    # a cover of 10,000 rows takes a second for each of 13 programs, half of the call.
    most_of_look: int = 10_000_000
    # Steps before programs are held to a share of the search's own, and that share: this power of the part of
    # the gap that the relaxation closes at the root. With 2,000,000 steps, warehouses take 0.36 s, 0.25 with
    # 500,000; with the eighth power, rosters are lost, whose first solutions are far off. The share is at
    # least the part of the last programs whose row narrowed or refuted its node: routes of 25 customers with
    # time windows then take 5.1 s, 18.9 and more by the gap alone, rosters 1.6 and 2.7.
    free: int = 500_000
    steep: float = 4.0
    least_share: float = 0.02
    programs_remembered: int = 8

    # Most members of a clause that searches exchange. Failures of eight job shops with two workers: without
    # exchange 1,253, two members 1,341, four 1,142, eight 1,190.
    most_told: int = 4
    inbox_cells: int = 4000  # of an inbox; what does not fit waits

    # Propagations between two deadline checks, interpreted and compiled.
    slice: int = 20_000
    compiled_slice: int = 300_000
