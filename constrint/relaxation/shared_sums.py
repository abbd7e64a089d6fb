"""Whether a relaxation without an objective may say something: whether sums of variables are stated together.

Clauses, members and conditions alone have a fractional point nearly everywhere, and propagation sees what
their relaxation does. Sums that share variables contradict each other although each can hold.
"""

from __future__ import annotations

from constrint.presolve import Root
from constrint.propagators import LinearEq, LinearLe


def sums_of(root: Root) -> tuple[int, int]:
    """The number of sums of three open variables or more that always hold, and of their terms."""
    lo, hi = root.box.lo, root.box.hi
    sizes = [
        size
        for node in root.propagators
        if isinstance(node, LinearLe | LinearEq) and (size := sum(lo[v] < hi[v] for _, v in node.terms)) > 2
    ]
    return len(sizes), sum(sizes)


def too_few_sums(root: Root) -> str | None:
    """Why the sums of a root are too few for a relaxation without an objective; None if they suffice."""
    count, terms = sums_of(root)
    rules = root.settings.relaxation
    whole = sum(len(node.scope()) for node in root.propagators)
    if count < rules.least_sums:
        return (
            f"{count:,} of {len(root.propagators):,} constraints are sums of three variables or more, fewer "
            f"than {rules.least_sums:,} (relaxation.least_sums)"
        )
    if terms < rules.share_of_sums * whole:
        return (
            f"{terms:,} of {whole:,} variables in constraints are in sums, less than "
            f"{rules.share_of_sums:.0%} (relaxation.share_of_sums)"
        )
    return None
