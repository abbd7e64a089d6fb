"""The case of a kernel: its arguments and expected outputs, as files that children map."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kerneltune.errors import InputError, RunError
from kerneltune.running.verify import Verdict, judged
from kerneltune.sources.arguments import NUMBER, WRITTEN, Argument, as_array

# Relative L2 error of an output, by its type; integers and Booleans must be equal.
TOLERANCES = {"float16": 2e-3, "float32": 1e-4, "float64": 1e-10, "complex64": 1e-4, "complex128": 1e-10}
LARGEST_ERROR = 20.0  # times the tolerance and the largest value: the largest error of one element
MANIFEST = "case.json"
Reference = Callable[..., object] | Mapping[str, object] | Sequence[object]


@dataclass(frozen=True, eq=False)
class Case:
    """A kernel's arguments and what is expected.

    Attributes:
        arguments: In the kernel's order.
        expected: The outputs by name.
        tolerance: Bound of the relative L2 error of floating-point outputs.
        constants: Constant memory by symbol.
    """

    arguments: tuple[Argument, ...]
    expected: Mapping[str, NDArray[Any]]
    tolerance: float | None = None
    constants: Mapping[str, NDArray[np.generic]] | None = None

    @property
    def outputs(self) -> list[Argument]:
        """The arguments that the kernel writes."""
        return [one for one in self.arguments if one.is_output]

    def tolerance_of(self, output: Argument) -> float:
        """The bound of an output's relative L2 error; 0: equal bits."""
        own = TOLERANCES.get(str(output.value.dtype), 0.0)
        return self.tolerance if self.tolerance is not None and own else own

    def judge(self, results: Mapping[str, NDArray[np.generic]]) -> Verdict:
        """The verdict on the output that is farthest from its expected values."""
        worst = Verdict(0.0, max((self.tolerance_of(o) for o in self.outputs), default=0.0), 0)
        for output in self.outputs:
            if output.name in self.expected:
                one = compared(results[output.name], self.expected[output.name], self.tolerance_of(output))
                if not one.right or (worst.right and one.relative_error > worst.relative_error):
                    worst = one
                if not one.right:
                    break
        return worst

    def save(self, folder: Path) -> None:
        """Write the case; raises `RunError` if there is no space."""
        described = []
        try:
            # Files have numbers: a name may have any characters, those of paths too.
            for place, one in enumerate(self.arguments):
                described.append(one.signature())
                if one.kind != NUMBER and one.kind != WRITTEN:
                    np.save(folder / f"argument-{place}.npy", one.value, allow_pickle=False)
            for what, arrays in (("expected", self.expected), ("constant", self.constants or {})):
                for place, array in enumerate(arrays.values()):
                    np.save(folder / f"{what}-{place}.npy", array, allow_pickle=False)
            data = {
                "arguments": described,
                "expected": list(self.expected),
                "constants": list(self.constants or {}),
                "tolerance": self.tolerance,
            }
            (folder / MANIFEST).write_text(json.dumps(data), encoding="utf-8")
        except OSError as error:
            raise RunError(
                f"no space for the kernel's arguments in {folder}: {error.strerror}; "
                "TMPDIR may name a folder on another disk"
            ) from None

    @classmethod
    def load(cls, folder: Path) -> Case:
        """The inverse of `save`; arrays are mapped, not read."""
        data = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        arguments = []
        for place, (name, kind, dtype, shape, value) in enumerate(data["arguments"]):
            if kind == NUMBER:
                made: object = np.dtype(dtype).type(value)
            elif kind == WRITTEN:
                made = np.broadcast_to(np.zeros((), dtype), shape)  # only its shape and type count
            else:
                made = _mapped(folder / f"argument-{place}.npy")
            arguments.append(Argument(kind, made, name))
        expected, constants = (
            {name: _mapped(folder / f"{what}-{place}.npy") for place, name in enumerate(names)}
            for what, names in (("expected", data["expected"]), ("constant", data["constants"]))
        )
        return cls(tuple(arguments), expected, data["tolerance"], constants)


def _mapped(path: Path) -> NDArray[np.generic]:
    found: NDArray[Any] = np.load(path, allow_pickle=False)
    return found


def keep_outputs(folder: Path, trial: int, outputs: Mapping[str, NDArray[np.generic]]) -> None:
    """Write the outputs of a candidate; raises `RunError` if there is no space."""
    numbered = {str(place): array for place, array in enumerate(outputs.values())}
    try:
        (folder / f"outputs-{trial}.json").write_text(json.dumps(list(outputs)), encoding="utf-8")
        np.savez(folder / f"outputs-{trial}.npz", allow_pickle=False, **numbered)
    except OSError as error:
        raise RunError(f"no space for a kernel's outputs in {folder}: {error.strerror}") from None


def kept_outputs(folder: Path, trial: int) -> dict[str, NDArray[np.generic]]:
    """The inverse of `keep_outputs`; the files are removed."""
    names, arrays = (folder / f"outputs-{trial}.{ending}" for ending in ("json", "npz"))
    with np.load(arrays, allow_pickle=False) as found:
        listed = json.loads(names.read_text(encoding="utf-8"))
        outputs = {name: found[str(place)] for place, name in enumerate(listed)}
    names.unlink()
    arrays.unlink()
    return outputs


def compared(got: NDArray[np.generic], expected: NDArray[np.generic], tolerance: float) -> Verdict:
    """The verdict on an output; a tolerance of 0 asks for equality."""
    if not tolerance:
        wrong = int(np.count_nonzero(got != expected))
        return Verdict(wrong / max(expected.size, 1), 0.0, 0)
    wide = np.complex128 if got.dtype.kind == "c" else np.float64
    one, other = (a.astype(wide).ravel().view(np.float64) for a in (got, expected))
    verdict = judged([[(one, other)]], tolerance)
    if verdict.right and one.size:
        far, most = float(np.max(np.abs(one - other))), float(np.max(np.abs(other)))
        if far > LARGEST_ERROR * tolerance * most:
            return Verdict(max(verdict.relative_error, far / max(most, 1e-30)), tolerance, 0)
    return verdict


def expected_outputs(
    arguments: Sequence[Argument], reference: Reference | None
) -> dict[str, NDArray[np.generic]]:
    """The expected outputs by name, from arrays or from a function of the arguments' values in order.

    A function gives one array for the only output, or a mapping by name, or a list for the outputs in order.
    A list that is given instead of a function has an entry for each argument, or for each output; None leaves
    one out.

    Raises:
        InputError: It does not fit the outputs.
    """
    if reference is None:
        return {}
    outputs = [one for one in arguments if one.is_output]
    found: Any = reference
    if callable(reference):
        try:
            found = reference(*[one.value.copy() if one.kind != NUMBER else one.value for one in arguments])
        except Exception as error:  # the user's own function
            raise InputError(f"the reference fails: {error!r}") from None
    if isinstance(found, Mapping):
        named = dict(found)
    else:
        listed = list(found) if isinstance(found, list | tuple) else [found]
        if len(listed) == len(arguments) != len(outputs):
            listed = [one for one, argument in zip(listed, arguments, strict=True) if argument.is_output]
        if len(listed) != len(outputs):
            raise InputError(
                f"the reference gives {len(listed)} arrays, but the kernel has {len(outputs)} outputs"
            )
        named = {o.name: one for o, one in zip(outputs, listed, strict=True) if one is not None}
    known = {one.name: one for one in outputs}
    made = {}
    for name, value in named.items():
        if name not in known:
            raise InputError(
                f"the reference names '{name}', which is no output: {', '.join(known) or 'none'}"
            )
        made[name] = _as_stored(
            as_array(np.asarray(value) if np.isscalar(value) else value, f"reference {name}"), known[name]
        )
    return made


def _as_stored(array: NDArray[np.generic], output: Argument) -> NDArray[np.generic]:
    """The expected array in the precision that is compared: that of the output, but at least float32."""
    if array.shape != output.value.shape:
        raise InputError(
            f"the reference of '{output.name}' has the shape {array.shape}, the output {output.value.shape}"
        )
    dtype = output.value.dtype
    return np.ascontiguousarray(array, np.float32 if dtype == np.float16 else dtype)
