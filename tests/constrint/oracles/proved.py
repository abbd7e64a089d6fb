"""Proofs checked with the shipped checker."""

from constrint.verification.checker import verify
from constrint.verification.report import Report


def checked(text: str) -> Report:
    """The report on a proof, which names its own model."""
    return verify(None, text.splitlines())


def is_proved(text: str) -> bool:
    """Whether a proof says and proves an optimum, a solution of any kind or that there is none."""
    return checked(text).claim in ("optimal", "infeasible")


def has_wide_steps(text: str) -> bool:
    """Whether a proof has clauses that cannot be followed because a constraint is too wide to list."""
    return any("too wide" in kind for kind in checked(text).trusted)
