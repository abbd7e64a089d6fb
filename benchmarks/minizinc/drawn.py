"""Data for the models in `models/`, drawn with a seed: `DRAWN[name](random, size)` gives parameters.

Size 1 takes CP-SAT a hundredth of a second to a second, size 2 up to some seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import drawn_choices
import drawn_orders
from drawing import Data, text

__all__ = ["DRAWN", "text"]

NAMES = [
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
DRAWN: dict[str, Callable[[Random, int], Data]] = {
    name: getattr(drawn_orders, name, None) or getattr(drawn_choices, name) for name in NAMES
}
