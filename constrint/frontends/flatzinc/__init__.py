"""FlatZinc, to which MiniZinc models are compiled: `read_flatzinc`."""

from constrint.frontends.flatzinc.document import parse
from constrint.frontends.flatzinc.model_building import FlatModel, build
from constrint.modelling.declarations import Declarations
from constrint.support.garbage import uncollected
from constrint.support.limits import Budget, recursion_room

__all__ = ["FlatModel", "read_flatzinc", "read_model"]


@uncollected()
def read_flatzinc(text: str, filename: str = "<flatzinc>", budget: Budget | None = None) -> FlatModel:
    """Read a FlatZinc text as a model and its output items.

    Args:
        text: The FlatZinc.
        filename: Its name in messages.
        budget: The limits of reading; the usual ones by default.

    Returns:
        The model.

    Raises:
        ParseError: The text is not valid, or has unknown constraints; has the line.
        LimitExceeded: The model is beyond the limits.
    """
    budget = budget or Budget()
    with recursion_room(budget.frames):
        return build(parse(text, filename, budget))


def read_model(text: str, filename: str = "<flatzinc>", budget: Budget | None = None) -> Declarations:
    """The model of `read_flatzinc` alone."""
    return read_flatzinc(text, filename, budget).model
