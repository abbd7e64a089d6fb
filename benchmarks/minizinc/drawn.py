"""Data for the models in `models/`, drawn with a seed: `DRAWN[name](random, size)` gives parameters.

Size 1 takes CP-SAT a hundredth of a second to a second, size 2 up to some seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import drawn_boards
import drawn_choices
import drawn_numbers
import drawn_orders
import drawn_plans
import drawn_works
from drawn_data import Data, text

__all__ = ["DRAWN", "LATER", "STEERED", "text"]

STEERED = [
    "jobshop",
    "openshop",
    "rcpsp",
    "mrcpsp",
    "flexible",
    "multiskill",
    "tardiness",
    "cvrp",
    "tsp",
    "tsptw",
    "prizes",
    "purchaser",
    "golomb",
    "golfers",
    "blackhole",
    "photo",
    "stilllife",
    "costas",
    "quasigroup",
    "nonogram",
    "magicsequence",
    "bibd",
    "opd",
    "tournament",
    "carsequencing",
    "openstacks",
    "talent",
    "lotsizing",
    "binpacking",
    "steelmill",
    "bacp",
    "warehouses",
    "roster",
    "colouring",
    "frequencies",
    "squares",
    "mapping",
    "multiknapsack",
    "marketsplit",
    "setcover",
    "cliques",
    "fastfood",
    "radiation",
    "protein",
    "spot",
    "parity",
    "community",
    "kidneys",
]
"""Families that the solver was steered by until 2026-11-24."""
LATER = [
    "amaze",
    "battleships",
    "crossword",
    "fillomino",
    "kakuro",
    "knights",
    "pentominoes",
    "tents",
    "slitherlink",
    "lightsout",
    "solitaire",
    "magicsquare",
    "armies",
    "corners",
    "rectangles",
    "alpha",
    "debruijn",
    "langford",
    "waerden",
    "ramsey",
    "sportsleague",
    "blocksworld",
    "cyclichoist",
    "vessel",
    "pizza",
    "counters",
    "network",
    "cyclicrcpsp",
    "rcpspwet",
    "racp",
    "depots",
    "tdtsp",
    "vrplc",
    "trucking",
    "instructions",
    "filters",
    "evilshop",
    "trains",
    "unitcommitment",
    "handball",
    "concert",
    "league",
    "rotatingworkforce",
    "hrc",
    "steinertree",
    "wcsp",
    "cuttingstock",
    "patternmining",
    "racks",
    "oncall",
    "busdrivers",
    "carpet",
    "celar",
]
"""Families that were drawn then, and measured first on what had been tuned on the others."""
MODULES = (drawn_orders, drawn_choices, drawn_boards, drawn_numbers, drawn_plans, drawn_works)
DRAWN: dict[str, Callable[[Random, int], Data]] = {
    name: next(getattr(module, name) for module in MODULES if hasattr(module, name))
    for name in [*STEERED, *LATER]
}
