"""`PortfolioSettings`: which searches of a portfolio join when, and how they share the work."""

from __future__ import annotations

from typing import Literal, TypeAlias

from constrint.settings.record import Record

Kind: TypeAlias = Literal["schedules", "tours", "products", "others"]
"""The kind of most constraints, which decides how well learning suits them."""


class PortfolioSettings(Record):
    """Settings of `search.portfolio`, `search.admission`, `search.members` and `search.weights`.

    Work is counted in units, propagations of the compiled engine, some 0.03 microseconds each. Weights are
    shares of the work relative to the tree search (1). "hard" is the set of 56 slow rows of families in
    MiniZinc; figures are geometric means of seconds.
    """

    # Units of tree search before other members join: most models need no more.
    alone: int = 100_000
    # Units that come before learning, for each part into which it decomposes the constraints: about a third
    # of the time that building it takes. With 300, "hard" takes 0.394 s, 0.383 with 120; at 200, counted by
    # pairs, Golomb 9 and a Sudoku of 25 are solved by tree search before. Learning pays earlier on schedules.
    before_each_part: int = 200
    before_each_part_of_schedules: int = 8
    # The most of these units, whatever the size: a unit of a large model takes a microsecond and more, since
    # nodes cost more there. 1,000 permutations (300,000 parts; 20 s): sum 14,750, 18,018 without this limit,
    # under which learning and neighbourhoods never joined.
    most_before_learning: int = 5_000_000

    # The weight of learning. "hard": 2 with 4 for the relaxation 0.472 s, 4 with 16 times the eighth power
    # 0.449. On tours 8 instead of 1 solved routes in 1.1 instead of 3.7 s. It explains products by all
    # bounds; there, with 0.75, mapping and talent take less.
    on_schedules: float = 40.0
    on_tours: float = 16.0
    on_others: float = 4.0
    on_products: float = 0.75
    # On tours and others it fades, since it proves soon what it proves: units after which its weight is half.
    half_of_learning: int = 60_000_000

    # Turns
    least_turn: int = 100_000  # units
    turn_of_all: int = 20  # a turn is that part of all work so far, if that is more
    nodes_of_turn: int = 100  # between two checks of the work of a tree search
    fading: float = 0.5  # of a member's merit with each turn
    most_merit: float = 4.0

    # Conversion factors from each member's counter to units, calibrated by time: before, a million units took
    # 0.01 to 0.06 s of learning, 0.025 to 0.1 of tree search, 0.13 to 0.36 of the relaxation.
    units_of_step: float = 0.75  # of the learning search
    units_of_program: float = 30.0  # for what a linear program counts; at 18, "hard" takes 0.414 s, not 0.381
    units_of_jump: float = 0.5  # of the local search
    units_of_annealing: float = 1.5  # 43 ns, where a unit is assumed to take 30
    # For each variable of a solution, which is read, compared with the objective as written, and told to the
    # other members: of 5,000 elements, 4,000 solutions a unit apart took 5 s and counted as 0.02 s of search.
    units_of_value: float = 16.0

    # The search that a relaxation leads: its weight where its bound is the best value, and the power of the
    # part of the gap that the bound closes. "hard": 0.449 s with the eighth power, 0.475 with the fourth.
    relaxed: float = 16.0
    steep: float = 8.0
    least_weight: float = 0.1
    # Units before that weight is less than 1: a poor first solution does not show how good the bound is.
    trial_of_relaxed: int = 15_000_000
    # Its weight where any solution of many equations is wanted: alpha 2, no proof in 30 s, takes 5 s with it.
    on_equations: float = 10.0
    # Equations of three open variables and more, and their part of the constraints, for that. Where an eighth
    # were equations (tents, 672 constraints), it cost 1.6 s.
    least_equations: int = 3
    share_of_equations: float = 0.25

    # Its weight where any solution of sums is wanted, and units after which that is half: a program may
    # refute at once what search does not, or lead to a solution; otherwise it takes time. Units that come
    # before it for each term of a sum: about what making the relaxation takes.
    on_sums: float = 1.0
    half_of_sums: int = 10_000_000
    before_each_term: int = 100

    # Large neighbourhoods of the best solution; their weight fades while they find nothing.
    weight_of_lns: float = 1.0
    lns_fades: float = 0.8  # factor with each turn that finds nothing
    least_of_lns: float = 0.1
    lns_after: int = 14_000_000  # units of learning, on schedules: there it finds good solutions by itself

    # While there is no solution: a search with restarts, and the local search, which finds the colours of 150
    # vertices in 0.24 s, over the limit without.
    restarting: float = 1.0
    most_matched: int = 200  # values for which the former makes `all_different` domain consistent
    local_search: float = 1.0
    half_of_jumps: int = 20_000_000  # units after which its weight is half

    # Annealing: units of all members that come before it; its weight at first, in the turn after one that
    # found something, the factor with each turn that finds nothing, and its least weight.
    before_annealing: int = 3_000_000
    trial_of_annealing: float = 0.3
    annealing: float = 2.0
    annealing_fades: float = 0.7
    least_of_annealing: float = 0.03
    turn_of_annealing: int = 20_000_000

    def weight_of_learning(self, kind: Kind) -> float:
        """The weight of the learning search relative to the tree search."""
        weights = {
            "schedules": self.on_schedules,
            "tours": self.on_tours,
            "products": self.on_products,
            "others": self.on_others,
        }
        return weights[kind]
