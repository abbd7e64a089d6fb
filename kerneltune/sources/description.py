"""The description of a user's kernel, from Python or from a folder, and how it becomes a `Kernel`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from constrint import Model
from constrint.solutions.solutionset import SolutionSet
from kerneltune.errors import InputError
from kerneltune.inputs import rules
from kerneltune.inputs.files import text_of
from kerneltune.inputs.hardware import HardwareProfile
from kerneltune.inputs.rules import either, flag, optional, text, whole
from kerneltune.sources.arguments import Argument, arguments_of
from kerneltune.sources.choices import ListedConfigurations
from kerneltune.sources.entries import check_entries, check_templates, only_entry
from kerneltune.sources.kernel import (
    AXES,
    CALLABLE,
    CUDA,
    KINDS,
    OUTSIDE,
    PTX,
    TRITON,
    Kernel,
    refuse_outside,
)
from kerneltune.sources.launches import Then, next_kernels, numbers_of, places_of, taken
from kerneltune.sources.names import OF_CUDA, QUALIFIED, check_line, check_macro, check_names, quoted
from kerneltune.sources.numbers import Configuration, Number, Numbers
from kerneltune.sources.parameters import check_arguments
from kerneltune.sources.references import named
from kerneltune.sources.space import (
    MOST_OF_AXIS,
    Constraint,
    limits_of,
    space_of_file,
    space_of_parameters,
)
from kerneltune.sources.targets import is_autotuner
from kerneltune.sources.triton_code import check_parameters

Launch = Number | Sequence[Number] | None
ENDINGS = {".cu": CUDA, ".cuh": CUDA, ".ptx": PTX, ".hip": "hip", ".cl": "opencl"}
LONGEST_NAME = 200
NUMBER = either(whole(0), text, rules.function)
LAUNCH = optional(either(NUMBER, rules.each(NUMBER)))
CONSTRAINT = either(rules.any_text, rules.function)
RULES = {
    "entry": optional(text),
    "kind": optional(text),
    "name": optional(text),
    "params": optional(rules.values_of(rules.iterable)),
    "constraints": either(CONSTRAINT, rules.path, rules.each(CONSTRAINT)),
    "sizes": rules.mapping,
    "arguments": rules.each(rules.anything),
    "grid": LAUNCH,
    "block": LAUNCH,
    "shared_memory": optional(NUMBER),
    "registers": optional(NUMBER),
    "blocks_per_sm": optional(NUMBER),
    "defines": rules.mapping,
    "constants": rules.mapping,
    "options": rules.each(text),
    "includes": rules.each(rules.path),
    "flops": optional(NUMBER),
    "bytes": optional(NUMBER),
    "cycles": optional(NUMBER),
    "timer": optional(either(text, rules.function)),
    "cooperative": flag,
    "strict": flag,
    "takes": optional(either(rules.each(text), rules.function)),
    "then": rules.each(rules.instance(Then)),
}


@dataclass
class Description:
    """A kernel as its user describes it.

    Attributes:
        source: A file or text of CUDA C++ or PTX, a function of a configuration that gives such a text, a
            Triton function, a CuPy RawKernel, or any Python callable.
        entry: The kernel's name, with template arguments that may name parameters; by default the only one.
        kind: `cuda`, `ptx`, `triton` or `callable`; by default what the source is.
        name: Its name in the store; by default the entry's.
        params: The values of each parameter.
        constraints: Python expressions and callables; or a constraint file's path or text, which declares the
            parameters itself.
        sizes: Sizes that expressions may name, by which results are kept.
        arguments: In the kernel's order.
        grid: Blocks along x, y and z: expressions, numbers or functions of the configuration.
        block: Threads along x, y and z.
        shared_memory: Dynamic shared memory of a block in bytes.
        registers: Registers of a thread, a limit for the compiler.
        blocks_per_sm: Blocks that must fit an SM.
        defines: Further macros: numbers or expressions.
        constants: Arrays for constant memory by symbol.
        options: Options of the compiler.
        includes: Folders of headers.
        flops: Operations of a run, for GFLOP/s; an expression.
        bytes: Bytes that a run must move, for GB/s; an expression.
        cycles: The predicted cost of a run, where searches begin; an expression, or what a constraint file
            defines by this name.
        timer: For a callable: a function that takes a call and returns milliseconds, or `returned` if the
            callable returns them itself.
        cooperative: Whether the launch is cooperative.
        strict: Whether a configuration whose compiled kernel breaks a promise (`registers`, `blocks_per_sm`)
            is refused; by default it is measured with the occupancy that it has.
        takes: The names of the first launch's arguments, if it does not take all; or a function of the
            configuration that gives them.
        then: Launches that follow with the same parameters, such as the reduction of split sums.
    """

    source: Any
    entry: str | None = None
    kind: str | None = None
    name: str | None = None
    params: Mapping[str, Iterable[object]] | None = None
    constraints: Sequence[Constraint] | Constraint | Path = ()
    sizes: Mapping[str, int] = field(default_factory=dict)
    arguments: Sequence[Any] = ()
    grid: Launch = None
    block: Launch = None
    shared_memory: Number | None = None
    registers: Number | None = None
    blocks_per_sm: Number | None = None
    defines: Mapping[str, str | int | float] = field(default_factory=dict)
    constants: Mapping[str, object] = field(default_factory=dict)
    options: Sequence[str] = ()
    includes: Sequence[str | Path] = ()
    flops: Number | None = None
    bytes: Number | None = None
    cycles: Number | None = None
    timer: Callable[[Callable[[], object]], float] | str | None = None
    cooperative: bool = False
    strict: bool = False
    takes: Sequence[str] | Callable[[Configuration], Sequence[str]] | None = None
    then: Sequence[Then] = ()

    @property
    def language(self) -> tuple[str, str]:
        """The kind of the source, and where children find a function; raises `InputError` if it is none."""
        rules.check({"kind": self.kind}, {"kind": RULES["kind"]})
        kind, text, _ = self._source()
        return kind, text if kind == TRITON else ""

    def kernel(self, profile: HardwareProfile | None) -> Kernel:
        """The kernel on a GPU.

        Raises:
            InputError: Something is wrong; the message names it.
            InfeasibleError: No configuration fits.
        """
        rules.check(self.__dict__, RULES)
        kind, text, make = self._source()
        self._check_names(kind)
        arguments = arguments_of(self.arguments)
        sizes = {name: _whole(value, name) for name, value in self.sizes.items()}
        constants = {**limits_of(profile), **sizes}
        given = self._numbers(kind)
        space, file, model = self._space(kind, constants, given, profile)
        if kind == CUDA:
            check_names(space.names, "parameter", OF_CUDA)  # a constraint file's too
            check_templates(text, space.names)
            check_entries([self.entry, *(one.entry for one in self.then)], text)
            self._check_arguments(text, arguments, space.names)
        if kind == TRITON:
            check_parameters(self.source, len(arguments), space.names, _used(given, space.names))
        numbers = Numbers(given, _values(space), constants, text=file)
        entry = self.entry or only_entry(text, kind, self.source)
        details: dict[str, Any] = {"cooperative": True} if self.cooperative else {}
        if kind == CALLABLE:
            details |= self._timer()
        return Kernel(
            name=(self.name or re.split(r"[<(]", entry)[0])[:LONGEST_NAME],
            kind=kind,
            source=text,
            entry=entry,
            space=space,
            numbers=numbers,
            arguments=arguments,
            sizes=sizes,
            profile=profile,
            defines=dict(self.defines),
            options=(
                *self.options,
                *self._raw_options(),
                *(f"-I{Path(f).resolve()}" for f in self._folders()),
            ),
            symbols=tuple(self.constants),
            model=model,
            make_source=make,
            function=self.source if kind == CALLABLE else None,
            timer=self.timer if callable(self.timer) else None,
            details=details,
            strict=self.strict,
            takes=None if self.takes is None else taken(self.takes, arguments),
            then=next_kernels(self.then, arguments),
        )

    def _check_names(self, kind: str) -> None:
        """Raise `InputError` for a name that cannot stand where it is written: in C++, or on one line."""
        for what, name in (("name", self.name), ("entry", self.entry)):
            check_line(name or "", f"kernel's {what}")
        check_names(self.sizes, "size")
        for name in self.params or {}:
            check_line(name, "parameter")
        if kind != CUDA:
            return
        check_names(self.params or (), "parameter", OF_CUDA)
        check_names(self.defines, "macro", OF_CUDA)
        for name in self.constants:
            if not QUALIFIED.fullmatch(name):
                raise InputError(
                    f"the constant {quoted(name)} is not a symbol in C++: give its name, as n::table"
                )

    def _check_arguments(self, text: str, arguments: Sequence[Argument], own: Sequence[str]) -> None:
        """Compare the arguments with what each launch's kernel declares, where both are known."""
        if not arguments:
            return
        entry = self.entry or only_entry(text, CUDA, self.source) if text else ""
        launches: list[tuple[str, tuple[int, ...]]] = []
        if not callable(self.takes):
            every = tuple(range(len(arguments)))
            first = every if self.takes is None else places_of(self.takes, arguments, "takes")
            launches = [(entry, first)]
        for name, places in [*launches, *next_kernels(self.then, arguments)]:
            check_arguments(text, name, [arguments[place] for place in places], [*own, *self.defines])

    def _source(self) -> tuple[str, str, Callable[[Configuration], str] | None]:
        """The kind, the text or the reference of a function, and what makes texts of configurations."""
        source, kind = self.source, self.kind
        if kind is not None:
            refuse_outside(kind)
        if isinstance(source, Path) or (isinstance(source, str) and "\n" not in source and _is_file(source)):
            path = Path(source)
            kind = kind or ENDINGS.get(path.suffix, CUDA)
            if kind in OUTSIDE:
                refuse_outside(kind)
            return kind, text_of(path), None
        if isinstance(source, str):
            if "\n" not in source and Path(source).suffix in ENDINGS:
                raise InputError(f"there is no file {source}")
            return kind or (PTX if ".entry" in source and ".target" in source else CUDA), source, None
        if hasattr(source, "code") and hasattr(source, "name"):  # a CuPy RawKernel
            return CUDA, str(source.code), None
        if hasattr(source, "arg_names") and hasattr(source, "fn"):  # a Triton function
            return TRITON, self._reference("the Triton function"), None
        if callable(source):
            if kind in (CUDA, PTX):
                return kind, "", source
            return CALLABLE, named(source) or "", None
        raise InputError(f"a kernel is a file, a text or a function ({', '.join(KINDS)}), not {source!r}")

    def _reference(self, what: str) -> str:
        found = named(self.source, what)
        if found is None:
            raise InputError(
                f"{what} must stand at the top level of a file, so that child processes can import it"
            )
        return found

    def _raw_options(self) -> tuple[str, ...]:
        return tuple(getattr(self.source, "options", ()) or ()) if hasattr(self.source, "code") else ()

    def _folders(self) -> list[str | Path]:
        is_file = isinstance(self.source, Path) or (isinstance(self.source, str) and _is_file(self.source))
        return [*self.includes, *([Path(self.source).parent] if is_file else [])]

    def _numbers(self, kind: str) -> dict[str, Number]:
        given: dict[str, Number] = {}
        for what, launch in (("grid", self.grid), ("block", self.block)):
            listed = list(launch) if isinstance(launch, list | tuple) else [] if launch is None else [launch]
            if len(listed) > 3:
                raise InputError(f"{what}: at most three numbers, for x, y and z")
            given |= {f"{what}_{axis}": one for axis, one in zip(AXES, listed, strict=False)}  # type: ignore[misc]
        if kind in (CUDA, PTX) and ("grid_x" not in given or "block_x" not in given):
            raise InputError("grid and block are missing: say how many blocks and threads a launch has")
        if kind == TRITON and "grid_x" not in given:
            raise InputError("grid is missing: say how many programs a launch has")
        for name in ("shared_memory", "registers", "blocks_per_sm", "flops", "bytes", "cycles"):
            if getattr(self, name) is not None:
                given[name] = getattr(self, name)
        if self.then and kind not in (CUDA, PTX):
            raise InputError(f"then: launches follow a kernel of CUDA or PTX, not one that is {kind}")
        given |= numbers_of(self.then)
        texts = {n: one for n, one in self.defines.items() if isinstance(one, str) and one.strip()}
        given |= {f"define_{n}": one for n, one in texts.items()}
        return given

    def _space(
        self,
        kind: str,
        constants: Mapping[str, int],
        given: dict[str, Number],
        profile: HardwareProfile | None,
    ) -> tuple[SolutionSet, str, Model | None]:
        """The space, and its constraint file's text and model; completes the numbers by what it has."""
        file = self._constraint_file()
        if file is None:
            if not self.params:
                return self._listed(kind), "", None
            one: Any = self.constraints
            listed = [one] if isinstance(one, str) or callable(one) else list(one)
            block = [given.get(f"block_{axis}") for axis in AXES]
            limited = dict(given)
            if all(one is None or isinstance(one, str | int) for one in block):
                limited["threads"] = " * ".join(f"({one})" for one in block if one is not None) or "1"
            params = {name: _plain(values, name) for name, values in self.params.items()}
            for name in params if kind == CUDA else ():
                for value in params[name]:
                    check_macro(value, f"'{name}'")
            if kind == CALLABLE:  # what a function does with such numbers is its own
                limited = {name: one for name, one in limited.items() if name not in MOST_OF_AXIS}
            return space_of_parameters(params, listed, constants, limited, profile), "", None
        if self.params:
            raise InputError("params and a constraint file both declare parameters: give one of them")
        where, text = file
        found, model = space_of_file(text, constants, profile, where)
        for name in ("shared_memory", "registers", "blocks_per_sm", "flops", "bytes", "cycles"):
            if name not in given and (name in found.names or re.search(rf"^\s*{name}\s*:=", text, re.M)):
                given[name] = name
        return found, text, model

    def _listed(self, kind: str) -> SolutionSet:
        """The configurations of Triton's own decorator."""
        if kind != TRITON or not is_autotuner(self.source):
            raise InputError("params is missing: name the parameters with their values")
        listed = ListedConfigurations.of(self.source.configs)
        if listed.is_numbered or listed.hooks:
            raise InputError("the configurations of triton.autotune have other names or hooks: give params")
        return listed.space()

    def _constraint_file(self) -> tuple[str, str] | None:
        given = self.constraints
        if isinstance(given, Path) or (isinstance(given, str) and given.endswith(".constrint")):
            return str(given), text_of(Path(given))
        if isinstance(given, str) and not self.params:
            return "constraints", given
        return None

    def _timer(self) -> dict[str, object]:
        if self.timer is None:
            return {}
        if self.timer == "returned":
            return {"tells": True}
        if isinstance(self.timer, str) or not callable(self.timer):
            raise InputError(f"timer: a function of a call, or 'returned', not {self.timer!r}")
        return {"timer": named(self.timer) or ""}


def _used(given: Mapping[str, Number], names: Sequence[str]) -> Iterable[str]:
    """The parameters that a launch's numbers may use: words of expressions; all, if a function gives one."""
    if any(callable(one) for one in given.values()):
        return names
    return re.findall(r"[A-Za-z_]\w*", " ".join(map(str, given.values())))


def _values(space: SolutionSet) -> dict[str, list[object]]:
    given = getattr(space, "tune_params", None)
    return dict(given) if given is not None else {name: space.values_of(name) for name in space.names}


def _plain(values: Iterable[object], name: str) -> list[object]:
    """The values of a parameter: numbers, texts and Booleans, as JSON keeps them."""
    listed = list(values) if not isinstance(values, str) else [values]
    found = [value.item() if hasattr(value, "item") else value for value in listed]
    wrong = [value for value in found if not isinstance(value, int | float | str)]
    if wrong:
        raise InputError(
            f"the parameter '{name}' has the value {wrong[0]!r}: only numbers, texts and Booleans"
        )
    return found


def _whole(value: Any, name: str) -> int:
    try:
        if int(value) == value:
            return int(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise InputError(f"the size '{name}' is {value!r}, which is not a whole number")


def _is_file(source: str) -> bool:
    try:
        return Path(source).is_file()
    except (OSError, ValueError):
        return False
