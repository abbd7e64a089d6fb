"""The configurations of `kerneltune.autotune`: parameters with constraints, or a list as Triton has it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from constrint.solutions.solutionset import SolutionSet
from constrint.tuning.spaces import from_tune_params
from kerneltune.errors import InputError
from kerneltune.sources.numbers import Configuration
from kerneltune.sources.space import Constraint, space_of_parameters

NUMBER = "config"  # the parameter of configurations that do not have the same names


@dataclass(frozen=True)
class ListedConfigurations:
    """Configurations that are listed one by one.

    Attributes:
        rows: The values of each, by name.
        hooks: What is called with a launch's arguments before it, by the number of the row.
    """

    rows: tuple[Configuration, ...]
    hooks: Mapping[int, Callable[..., object]] = field(default_factory=dict)

    @classmethod
    def of(cls, configs: Iterable[Any]) -> ListedConfigurations:
        """The configurations of `triton.Config` objects, or of mappings.

        Raises:
            InputError: One is neither, or there is none.
        """
        rows: list[Configuration] = []
        hooks: dict[int, Callable[..., object]] = {}
        for one in configs:
            whole = one.all_kwargs() if hasattr(one, "all_kwargs") else one
            if not isinstance(whole, Mapping):
                raise InputError(f"configs: a triton.Config or a dict is expected, not {one!r}")
            if dict(whole) in rows:
                continue
            hook = getattr(one, "pre_hook", None)
            if hook is not None:
                hooks[len(rows)] = hook
            rows.append(dict(whole))
        if not rows:
            raise InputError("configs: there is no configuration")
        return cls(tuple(rows), hooks)

    @property
    def is_numbered(self) -> bool:
        """Whether a configuration of the space is a row's number: rows have other names or odd values."""
        names = [list(row) for row in self.rows]
        plain = all(isinstance(value, int | float | str) for row in self.rows for value in row.values())
        return not plain or not names[0] or any(one != names[0] for one in names)

    def space(self) -> SolutionSet:
        """The rows as a space."""
        if self.is_numbered:
            return from_tune_params({NUMBER: range(len(self.rows))})
        names = list(self.rows[0])
        values = {name: list(dict.fromkeys(row[name] for row in self.rows)) for name in names}
        known = {tuple(row.values()) for row in self.rows}
        return from_tune_params(values, [lambda one: tuple(one[name] for name in names) in known])

    def number(self, configuration: Configuration) -> int:
        """The number of the row of a configuration of the space."""
        if self.is_numbered:
            return int(configuration[NUMBER])
        return self.rows.index(configuration)


@dataclass(frozen=True)
class Choices:
    """Parameters with constraints, or listed configurations."""

    params: Mapping[str, Sequence[object]] = field(default_factory=dict)
    constraints: Sequence[Constraint] = ()
    listed: ListedConfigurations | None = None

    @property
    def names(self) -> set[str]:
        """The parameters."""
        if self.listed is not None:
            return {name for row in self.listed.rows for name in row}
        return set(self.params)

    def space(self, sizes: Mapping[str, int], limits: Mapping[str, int]) -> SolutionSet:
        """The valid configurations of a call.

        Args:
            sizes: The key's whole numbers, which constraints may name.
            limits: The GPU's, likewise.
        """
        if self.listed is not None:
            return self.listed.space()
        params = {name: list(values) for name, values in self.params.items()}
        return space_of_parameters(params, list(self.constraints), {**limits, **sizes}, {}, None)

    def values(self, configuration: Configuration) -> Configuration:
        """The arguments that a configuration stands for."""
        if self.listed is None:
            return dict(configuration)
        return dict(self.listed.rows[self.listed.number(configuration)])

    def hook(self, configuration: Configuration) -> Callable[..., object] | None:
        """The function that is called before a launch."""
        if self.listed is None:
            return None
        return self.listed.hooks.get(self.listed.number(configuration))
