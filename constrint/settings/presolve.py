"""`PresolveSettings`: when the rules at the root take part, and how much work each may do."""

from __future__ import annotations

from constrint.settings.record import Record


class PresolveSettings(Record):
    """Settings of `constrint.presolve`. Numbers without a row bound the time of what is rarely needed."""

    # Propagations at the root, in all and of a constraint, whichever is more, after which creeping bounds are
    # left to search. Models of the MiniZinc Challenge with 10,000 constraints and more take 1 to 10 of each.
    propagations: int = 20_000
    propagations_of_constraint: int = 30
    # Repetitions of propagation after factors were listed or joint bounds found.
    rounds: int = 4
    # Total arity from which on handing over to the compiled engine costs less than it saves.
    large: int = 16
    # The same where it has to be loaded from disk first, which takes 0.1 s: 10,000 tables take 0.75 s of
    # presolve, 2.3 interpreted.
    worth_loading: int = 20_000
    # Most constraints of a model that is searched briefly before root reasoning. The brief search wins the
    # magic square.
    most_postponed: int = 300
    # Variables with fewer values get no linear program, and with as many no model is postponed.
    wide: int = 1000

    # Cliques of disequalities. They win "pigeons by pairs, 12 in 11": 0.002 s, 0.034 without.
    most_pairs_of_cliques: int = 200_000
    least_clique: int = 3  # two variables that differ are a disequality anyway
    # With fewer values than this times the variables, consistency of bounds pays, as for `all_different`.
    tight: float = 1.5

    # Machines in disjunctions. They win "one machine": 0.040 s, over the limit without.
    least_tasks: int = 3  # of two tasks, the disjunction says the same
    most_orders: int = 200_000  # that are read, and most pairs that are compared

    # Linear rows that another one implies.
    most_rows_of_dominated: int = 5000
    most_terms_of_dominated: int = 100  # of a row
    work_of_dominated: int = 100_000  # terms that are compared

    # Systems of linear equations over the integers; larger ones are left to propagation.
    most_terms_of_equations: int = 400  # of all equations together
    steps_of_equations: int = 2000  # substitutions, before a system is too hard

    # Factors of a known product, and pairs of squares of a known sum.
    narrow: int = 4096  # domains of fewer values are left to propagation
    most_totals: int = 16  # values of the rest beside two squares, each of which is factorised

    # Joint bounds of linear constraints, by exact arithmetic.
    most_rows_of_joint: int = 80
    most_variables_of_joint: int = 120
    most_bounded: int = 24  # variables for which bounds are computed, each by two linear programs
    pivots_of_joint: int = 600
    most_cells_of_joint: int = 4000  # rows times variables of a system for one bound

    # Residues in models without bounds: `x * (x + 1) == 2 * y + 1` has no solution modulo 2.
    most_modular: int = 80  # constraints
    narrow_modular: int = 64  # greatest absolute value of a variable that is kept exactly
    greatest_modulus: int = 64  # of the model's own constants
    nodes_modular: int = 300  # of the search for each modulus

    # Symmetries. They win "colours of queens": 0.076 s, 0.60 without; finding them takes 1 to 120 ms.
    most_items: int = 40_000  # items of constraints; larger problems are not analysed
    refinements: int = 6  # of colours
    work_of_exchanges: int = 30_000  # items read, by all exchanges
    work_for_exchange: int = 10_000  # added to that for each exchange that is found
    work_of_exchange: int = 30_000  # of one exchange that is tried
    short_fact: int = 50  # items of a fact that is read for each vertex that moves
    most_exchanges: int = 400
    passes: int = 3  # over the classes of colours, while exchanges are found
    most_compared: int = 40  # pairs of variables that are compared for one exchange
    most_literals_of_names: int = 6000  # that the order of names of values may add
