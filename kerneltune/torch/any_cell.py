"""Layers of any recurrent cell, with what the layers in the place of torch's can do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from kerneltune.errors import InputError, nearest
from kerneltune.inputs.equation_cell import EquationCell, named
from kerneltune.torch.equations import equations_of, make_known
from kerneltune.torch.headwise import OPTIONS
from kerneltune.torch.launching import Launcher
from kerneltune.torch.layers import Added, TorchLayer
from kerneltune.torch.sizes import Sizes


class AnyCellOptions(Added, total=False):
    """Options of `Recurrent`.

    Attributes:
        options: As for `recurrence`: `forward_clip`, `gate_gradient_clip`, `cut_recurrent_gradient`.
        runs_on: What launches kernels; by default, this machine's GPU.
        device: Where the parameters are.
        dtype: Their type.
    """

    options: Mapping[str, object]
    runs_on: Launcher
    device: object
    dtype: object


class Recurrent(TorchLayer):
    """A stack of recurrent layers of any cell, called as `torch.nn.LSTM` is.

    Args:
        cell: Name of the cell, the file of its equations, or a `kerneltune.Cell`.
        input_size: Features of x.
        hidden_size: Units of a layer and direction.
        num_layers: Layers, each of which reads the output of the one before it.
        bias: Whether there are biases, `bias_ih` and `bias_hh` as torch has them.
        batch_first: Whether x and the output are `[B, T, …]`.
        dropout: Probability that a feature between two layers is left out.
        bidirectional: Whether each layer has a second direction, which begins at the last step.
        added: Those of `AnyCellOptions`, such as `heads`.

    Attributes:
        weight_ih_l0: W, `[G * hidden_size, input_size]`, gate after gate in the cell's order; likewise
            `weight_hh_l0`, `[G * hidden_size, hidden_size / heads]`, and the biases.
        weight_unit_l0: The weights of single units, `[P, hidden_size]`, of a cell that has any.
        option_NAME_l0: A number, for each option of the cell that is learnable.

    Rows of their own lengths cost nothing where some values of the gates keep the states, as an LSTM's open
    forget gate does. Of other cells the host reads the lengths, and kernels run from end to end.
    """

    def __init__(
        self,
        cell: str | EquationCell,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        **added: Unpack[AnyCellOptions],
    ) -> None:
        given: dict[str, Any] = {**added}
        options, runs_on = given.pop("options", None) or {}, given.pop("runs_on", None)
        device, dtype = given.pop("device", None), given.pop("dtype", None)
        unknown = given.keys() - Added.__annotations__.keys()
        if unknown:
            raise InputError(f"unknown option '{min(unknown)}' of Recurrent")
        for name in options:
            if name not in OPTIONS:
                raise InputError(f"unknown option '{name}': {nearest(name, OPTIONS)}")
        sizes = (input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional)
        checked = Sizes(*sizes, **given)
        self.cell = named(cell)
        super().__init__(checked, device, dtype)
        if self.kind.learnable and (not checked.bias or checked.layer_norm):
            raise InputError(
                f"options that are learnt are biases of {self.cell}: bias=True, without layer_norm"
            )
        self.options, self.runs_on = dict(options), runs_on
        self._equations = equations_of(self.cell)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make the equations known in the process that loads the layer."""
        make_known(state.get("_equations"))
        super().__setstate__(state)

    @property
    def states(self) -> tuple[str, ...]:
        """The names of the states, in their order in `hx`."""
        return tuple(self.kind.states)

    def extra_repr(self) -> str:
        """The cell, and the arguments that differ from their defaults."""
        return f"{self._equations[0] if self._equations else self.cell}, {super().extra_repr()}"
