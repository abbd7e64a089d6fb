"""FlatZinc, which MiniZinc models are compiled to: `read_flatzinc`, and the command `fzn-constrint`."""

from constrint.frontends.flatzinc.build import FlatModel, build
from constrint.frontends.flatzinc.document import parse
from constrint.support.limits import Budget, recursion_room

__all__ = ["FlatModel", "read_flatzinc"]


def read_flatzinc(text: str, filename: str = "<flatzinc>", budget: Budget | None = None) -> FlatModel:
    """Read a FlatZinc text as a model, with what it says is to be printed.

    Args:
        text: The FlatZinc.
        filename: Its name in messages.
        budget: What reading may take; the usual limits where it is left out.

    Returns:
        The model; raises `ParseError` with the line for text that is none, or has unknown constraints, and
        `LimitExceeded` for a model beyond the limits.
    """
    budget = budget or Budget()
    with recursion_room(budget.frames):
        return build(parse(text, filename, budget))
