"""The kinds of cells as layers need them, and the sizes and options of a stack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from kerneltune.errors import InputError
from kerneltune.inputs.equation_cell import EquationCell
from kerneltune.torch.equations import recurrent_cell
from kerneltune.torch.ragged import SATURATED_GATE


@dataclass(frozen=True)
class Kind:
    """The kind of a cell, as layers need it.

    Attributes:
        cell: Its name.
        gates: The names of the gates in torch's order.
        states: Names of its states, h first.
        keeps: What each gate is set to behind a row's end: -1 for shut, 1 for open, 0 for any. None where no
            values of the gates keep the states.
        keeps_hidden: Whether h is kept, too, and not only the other states.
        positive: States that begin with 1.
        weights: Names of the weights of single units.
        learnable: Options that are learnt, with their values at first: the last gates.
    """

    cell: str
    gates: Sequence[str]
    states: Sequence[str]
    keeps: tuple[int, ...] | None
    keeps_hidden: bool = False
    positive: Sequence[str] = ()
    weights: tuple[str, ...] = ()
    learnable: tuple[tuple[str, float], ...] = ()


KINDS = {
    "lstm": Kind("lstm", "ifgo", "hc", (-1, 1, 0, 0)),
    "slstm": Kind("slstm", "ifzo", "hcnm", (-1, 1, 0, 0), positive="n"),
    "gru": Kind("gru", "rzn", "h", (0, 1, 0), keeps_hidden=True),
    "elman": Kind("elman", "a", "h", (0,)),
    "elman_relu": Kind("elman_relu", "a", "h", (-1,)),  # 0: else h could grow without end
}


@cache
def kind_of(cell: str) -> Kind:
    """The kind of a cell by its name, or of equations by the key under which this process knows them."""
    if cell in KINDS:
        return KINDS[cell]
    found = recurrent_cell(cell)
    if not isinstance(found, EquationCell):
        raise InputError(f"the layers know no cell '{cell}' but by its equations")
    from kerneltune.cells.keeping import keeping

    spec, kept = found.spec, keeping(found.derivation, SATURATED_GATE)
    return Kind(
        cell=cell,
        gates=spec.gates,
        states=spec.states,
        keeps=None if kept is None else kept.signs,
        keeps_hidden=kept is not None and kept.hidden,
        positive=spec.positive,
        weights=spec.weights,
        learnable=spec.learnable,
    )


@dataclass(frozen=True)
class Sizes:
    """The sizes and options of a stack, as `torch.nn.LSTM` names them, and what it lacks."""

    input_size: int
    hidden_size: int
    num_layers: int = 1
    bias: bool = True
    batch_first: bool = False
    dropout: float = 0.0
    bidirectional: bool = False
    proj_size: int = 0
    heads: int = 1
    layer_norm: bool = False
    recurrent_dropout: float = 0.0
    zoneout: float = 0.0
    learned_initial: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.input_size, str):
            raise InputError(
                f"input_size is {self.input_size!r}: layers are called as torch.nn's here, by their sizes; "
                "HeadwiseRNN takes the name of a cell"
            )
        for name in ("input_size", "hidden_size", "num_layers", "heads"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise InputError(f"{name} is {value!r}: it must be a whole number from 1 on")
        for name in ("dropout", "recurrent_dropout", "zoneout"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"{name} is {getattr(self, name)!r}: it must be a probability, 0 to 1")
        if self.hidden_size % self.heads:
            raise InputError(
                f"hidden_size is {self.hidden_size}: it must be a multiple of heads={self.heads}"
            )
        if not 0 <= self.proj_size < self.hidden_size:
            raise InputError(f"proj_size is {self.proj_size}: it must be 0 or less than hidden_size")
        if self.proj_size and (self.heads > 1 or self.layer_norm or self.zoneout):
            raise InputError("proj_size goes with neither heads nor layer_norm nor zoneout")

    @property
    def directions(self) -> int:
        """1, or 2 for a bidirectional stack."""
        return 2 if self.bidirectional else 1

    @property
    def head_dim(self) -> int:
        """Units of a head."""
        return self.hidden_size // self.heads

    @property
    def output_size(self) -> int:
        """Features of h in one direction."""
        return self.proj_size or self.hidden_size
