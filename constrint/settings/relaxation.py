"""`RelaxationSettings`: how large linear relaxations may be, and how much work their cuts may do."""

from __future__ import annotations

from constrint.settings.record import Record


class RelaxationSettings(Record):
    """Settings of `constrint.relaxation` and of the search that a relaxation leads (`search.relaxed`).

    The search wins "jobs to agents, 60 x 10": 0.71 s, over the limit without. Sizes bound the memory and the
    time of one program; larger relaxations are not made.
    """

    # Size
    most_columns: int = 20_000
    most_entries: int = 200_000  # factors in rows
    most_values: int = 100  # of a variable that gets a column for each of its values
    most_rows_of_table: int = 300  # a table with more has no columns for its rows

    # Members of several variables linked by equations. They win "orders with changes": 1.44 s, over the limit
    # without; the bound of lots with change-overs rises from 12 to 238 of 408.
    most_combinations: int = 400  # of the values of a sum's terms
    most_linked: int = 40  # values of a variable that gets members for its equations alone
    most_members: int = 3_000  # of such variables together
    linking_rounds: int = 4  # of passing members on through equations

    # Cuts by mixed-integer rounding: lots of 12 periods, not proved in 7.4 s without, take 0.55 s; flows of
    # Steiner trees with 40 nodes, not proved in 20 s with sums of six rows alone, 0.4 s with sets of nodes.
    most_summed: int = 10  # rows in one sum
    most_nested: int = 8  # sets of a network's nodes around one of them
    most_divisors: int = 8  # tried for a sum
    most_roundings: int = 100  # cuts in a round
    most_terms_of_sum: int = 200
    parallel: float = 0.9  # cosine of the angle between a cut and a deeper one from which on it is left out
    least_depth: float = 0.02  # distance of the point from a cut; less is likely to be an error of rounding
    # Terms looked at in one round, and as many more for each row: some 8 ns each. Without machine code a term
    # takes a hundred times as long, and there are so many times fewer.
    work_of_rounding: int = 4_000_000
    work_of_row: int = 4_000
    slower_interpreted: int = 50
    terms_of_unit: int = 100  # that count as a unit of work
    rounding_rounds: int = 40  # at the root, while they raise the bound
    worth_a_round: float = 1e-3  # least part by which a round raises the bound

    # Subtours of circuits
    least_violation: float = 0.02  # of a cut by the point
    most_subtours: int = 40  # cuts of a circuit in a round
    cut_rounds_of_root: int = 30
    cut_rounds: int = 3  # at other nodes, where they are paid for each time

    # Bounds of one variable, and the dual row of an objective. With HiGHS in place of exact pivots, knapsack
    # 300 takes 0.207 s, 1.05 without.
    few_cells: int = 100  # rows times variables that exact arithmetic solves before HiGHS is loaded
    most_entries_of_bounds: int = 50_000  # factors in a system for HiGHS
    most_exact_cells: int = 4000  # rows times variables for the exact simplex method
    exact_pivots: int = 300
    least_gain: float = 1e-6  # of the objective's bound: a row that gives less only takes time

    # Without an objective: sums that the constraints must have, and the part of the variables in constraints
    # that is in sums, before a relaxation is made.
    least_sums: int = 2
    share_of_sums: float = 0.1
    # Its programs of nodes before they are judged, and the least part that refutes its node: a dive to a
    # first solution takes some tens.
    trial_of_points: int = 200
    share_of_refuted: float = 0.05

    # Constraints among which conflicts and corrections are looked for by linear programs: fewer take no
    # longer than loading HiGHS, and lowering more one by one takes seconds.
    least_blamed: int = 12
    most_blamed: int = 20_000

    # What a turn may take beyond its end to finish a program or the cuts of the root, and pivots that a
    # program has at least: to go on with it takes as long as some hundred. Without a limit covers of 10,000
    # rows spent the whole 16 s that were left in one turn; with 150,000 the cuts of lots 12 and a roster of 8
    # came late: 2.2 and 4.4 s, 1.2 and 1.6 with 1,000,000.
    overdraft: int = 1_000_000
    least_pivots: int = 500

    # The first solution of a program with so many rows and columns is by interior points: covers of 1,000,
    # 3,000, 10,000 and 30,000 rows take 0.06, 0.3, 3 and 19 s, by the dual simplex method 0.16, 2.8, more
    # than 60 and more than 60 s. They cannot be interrupted and resumed: they get a share of the time.
    least_of_interior_points: int = 2_000
    time_of_interior_points: float = 0.4
    pivots_of_interior_point: int = 400  # what an iteration takes, measured on those covers: 280 to 580

    # Programs of so many rows and columns begin at the basis of an earlier one of the same constraints.
    # Smaller ones take less from scratch than finding it.
    least_of_basis: int = 200

    # Decisions are tried before they are taken. Eight drawn knapsacks of integers take 18.4 s with trials,
    # 20.0 without; with one for each program of a node, a cover of 150 rows takes 4.3 in place of 2.1 s.
    reliable: int = 4  # tries of each side of a column from which on its gains are trusted
    vain_trials: int = 4  # columns in a row that are no better than the best one before that is taken
    free_trials: int = 100  # programs of trials at first
    programs_of_trial: int = 8  # programs of nodes for each further one
    pivots_of_trial: int = 50

    # What a program counts at most, beside its pivots: measured, 0.5 ms a node. Small ones take less: a
    # constant, and so much for ten rows and columns. Six drawn knapsacks of integers take 23.9 s if all are
    # charged as large ones, 16.0 so.
    cost_of_program: int = 800
    cost_of_small_program: int = 100
    cost_of_ten: int = 13
