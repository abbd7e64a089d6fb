"""FlatZinc, which MiniZinc models are compiled to: `read_flatzinc`, and the command `fzn-constrint`."""

from constrint.frontends.flatzinc.build import FlatModel, build
from constrint.frontends.flatzinc.document import parse

__all__ = ["FlatModel", "read_flatzinc"]


def read_flatzinc(text: str, filename: str = "<flatzinc>") -> FlatModel:
    """Read a FlatZinc text as a model, with what it says is to be printed.

    Args:
        text: The FlatZinc.
        filename: Its name in messages.

    Returns:
        The model; raises `ParseError` with the line for text that is none, or has unknown constraints.
    """
    return build(parse(text, filename))
