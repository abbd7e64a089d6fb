"""When a candidate that is being measured may be stopped."""

from __future__ import annotations

import math
from collections.abc import Sequence


def is_hopeless(samples: Sequence[float], best: Sequence[float], margin: float = 1.05) -> bool:
    """Whether a candidate that is being measured cannot become the best: it may be stopped.

    Args:
        samples: Its times so far.
        best: The times of the best candidate.
        margin: How much faster than its fastest time so far the candidate may still turn out.
    """
    if not samples or not best:
        return False
    return min(samples) > margin * max(sorted(best)[: math.ceil(len(best) / 2)])
