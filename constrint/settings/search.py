"""`SearchSettings`: the short searches that come before a long one, and the slices of all of them."""

from __future__ import annotations

from constrint.settings.record import Record


class SearchSettings(Record):
    """Settings of `constrint.search`, but for the portfolio and its neighbourhoods.

    The numbers of short searches bound what is lost where they find nothing.
    """

    # The descent that tries preferred values, before tables. With more failures these contradict each other,
    # and tables are better. It takes a third of the time of most tilings.
    nodes_of_descent: int = 100
    failures_of_descent: int = 4

    nodes_before_presolve: int = 100  # of the brief search before root reasoning; it wins the magic square
    # Nodes before the dual row is added, for so many variables each: two descents to a leaf. Covers of 3,000
    # variables have a solution in 0.5 s; with 1,000 nodes at any size, linear programs came before it.
    nodes_before_dual: int = 1000
    variables_before_dual: int = 500
    # Nodes of the brief search of a larger model that a solution counts for: its checks take as long. Medians
    # of 200 places had 786 solutions, one better than the other by little, and no other search in 20 s.
    nodes_of_solution: int = 20
    # Terms of a sum that is not in blocks: a cover of 30,000 rows has its first solution after 3.9 s, without
    # blocks after 7.2 s. Sums of 300 to 600 terms are as fast either way.
    longest_sum: int = 1000
    most_restarts: int = 3  # of an optimisation whose bounds need a solution first

    # Probes for good values of an objective. They win a row by 250,067 to 919 nodes.
    nodes_of_probe: int = 60
    most_halves: int = 1000  # most further nodes of a probe, two for each halving of a domain
    most_nodes_of_probes: int = 2000  # of all probes of an objective
    most_failed_probes: int = 3  # consecutive ones without an answer
    least_range: int = 4096  # objectives with fewer values are not probed

    # Points around the best one, of small models with wide domains.
    most_polled_variables: int = 12
    most_polled_constraints: int = 40
    least_polled_width: int = 1 << 10  # of the widest domain; narrower ones are left to search
    most_points: int = 4000

    # The first solution of a large model, where there is a time limit.
    small: int = 500  # variables and constraints: with fewer, the first solution is left to the search
    share_of_dive: float = 0.5  # of the time that is left
    more_nodes_of_dive: int = 200  # beside one for each variable

    least_greedy: int = 100  # variables of an objective for which a greedy descent comes first

    # A search near the hints
    nodes_near_hints: int = 1000  # beside two for each variable
    failures_near_hints: int = 200

    # Solutions near zero of unbounded models
    nodes_near_zero: int = 400  # for each pair of bounds
    distances: tuple[int, ...] = (1 << 3, 1 << 7, 1 << 12, 1 << 24, 1 << 48)

    # Restarts: decisions of all kept paths together, and paths; every node walks along all of them.
    most_decisions: int = 1 << 14
    most_paths: int = 32
    # Failures before failure weighting: short searches need no lists of credits.
    failures_before_weights: int = 100

    # Decision variables that are ranked in a tree, so that a node need not scan all; fewer are scanned.
    least_ranked: int = 512

    # Lists of constraints whose structure is kept: the root's, that without symmetries, that with a dual row.
    most_structures: int = 3

    # Workers that may end before their answer in one call; after that, the work itself is taken to end them.
    most_losses: int = 3

    # Models with bounds beyond this are not given to a portfolio.
    farthest: int = 1 << 40

    # A tree that workers share: work before they are started, counted as `SearchLimits.work`, about a second
    # interpreted; and of a share, some tenths of a second compiled.
    work_alone: int = 200_000
    work_of_share: int = 300_000

    # Seconds of interpreted search after which machine code is loaded, which takes as long; and after which a
    # process begins to compile what is not on disk yet.
    seconds_before_loading: float = 0.08
    seconds_before_compiling: float = 0.5

    # Most nodes and propagations of a slice, between two deadline checks: interpreted; interpreted while
    # the compiled engine is loaded, which costs little to hand over to; and compiled.
    slice: tuple[int, int] = (100, 20_000)
    first_slice: tuple[int, int] = (2, 60)
    compiled_slice: tuple[int, int] = (5_000, 1_000_000)
    least_of_node: int = 5  # propagations that a node counts as when slices are sized
    missed: float = 0.02  # seconds that a slice may take even if less is left
    # In searches of a bounded number of nodes: propagations that count as a node, checks of the limit, and
    # the node of the first check where a model has few propagators, since each check ends a slice.
    propagations_of_node: int = 50
    checks_of_nodes: int = 5
    first_check: int = 100
    few_propagators: int = 300
    checks_of_work: int = 400  # in searches of a bounded amount of work
