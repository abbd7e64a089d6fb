"""`kerneltune.autotune`: a kernel that is tuned when it is first called, and never again for the same key."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, fields
from typing import Any

from kerneltune.errors import InputError, KernelTuneError, RunError, nearest
from kerneltune.inputs.hardware import load_profile
from kerneltune.measuring.call_backend import OUTPUT, RESTORED, ZEROED, CallBackend, InThisThread, Written
from kerneltune.measuring.held_arrays import Arrays, arrays_of, dtype_of, is_array, tolerance_for
from kerneltune.measuring.measure import MeasuringPlan
from kerneltune.measuring.serving import Server
from kerneltune.pipeline.run import Budget, Pipeline
from kerneltune.searching.protocol import Configuration
from kerneltune.searching.strategies import strategy
from kerneltune.sources.choices import Choices, ListedConfigurations
from kerneltune.sources.kernel import CALLABLE, Kernel
from kerneltune.sources.numbers import Numbers
from kerneltune.sources.space import limits_of
from kerneltune.sources.targets import CupyTarget, GivenCall, TritonTarget, is_autotuner, target_of
from kerneltune.tuning.autotune_options import EVALUATIONS, PLANNED, AutotuneOptions
from kerneltune.tuning.goals import Goals, Minimising
from kerneltune.tuning.kernel_work import KernelWork
from kerneltune.tuning.memory import KernelMemory
from kerneltune.tuning.store import Store
from kerneltune.tuning.tuned import TunedKernel


def autotune(
    configs: Sequence[object] | None = None, key: Sequence[str] = (), **given: object
) -> Callable[[object], Autotuned]:
    """Tune a kernel when it is first called with new values of the key, in the place of `triton.autotune`.

    Results are kept in the store, so that no other process tunes again, and a run that was interrupted goes
    on. Each configuration is verified before it is timed.

    Args:
        configs: `triton.Config` objects or dicts; None: `params`, or what `triton.autotune` below it has.
        key: Names of arguments for whose values the kernel is tuned anew.
        given: The fields of `AutotuneOptions`, and `runs`, `timed`, `warm_up`, `flush`, `patience` and
            `needs_same_bits` of `MeasuringPlan`.

    Raises:
        InputError: Something is wrong; the message names it.
    """
    known = {one.name for one in fields(AutotuneOptions)}
    strange = next((name for name in given if name not in known and name not in PLANNED), None)
    if strange is not None:
        raise InputError(f"autotune has no argument '{strange}': {nearest(strange, [*known, *PLANNED])}")
    named: dict[str, Any] = dict(given)
    plan = MeasuringPlan(**{name: named.pop(name) for name in PLANNED if name in named})
    options = AutotuneOptions(**named)
    return lambda function: Autotuned(function, configs, list(key), options, plan)


class Autotuned:
    """A kernel that is tuned when it is called; made by `autotune`.

    Args:
        function: A Triton function, also of `triton.autotune`, a CuPy RawKernel, or a function that takes the
            parameters by name.
        configs: The configurations that are listed.
        key: Names of arguments.
        options: How it is tuned.
        plan: How a configuration is measured.

    Attributes:
        best_config: The values of the last call's parameters.
        tuned: The trials of the last search in this process; None: all was known.
    """

    def __init__(
        self,
        function: Any,
        configs: Sequence[Any] | None,
        key: list[str],
        options: AutotuneOptions,
        plan: MeasuringPlan,
    ) -> None:
        prune = dict(options.prune_configs_by or {})
        reset, restore = list(options.reset_to_zero or ()), list(options.restore_value or ())
        if is_autotuner(function):
            _refuse_hooks(function)
            configs = function.configs if configs is None and options.params is None else configs
            key = key or list(function.keys)
            reset, restore = reset or list(function.reset_to_zero), restore or list(function.restore_value)
            prune = prune or {
                name: one
                for name in ("early_config_prune", "perf_model")
                if (one := getattr(function, name, None)) is not None
            }
            function = function.fn
        if (configs is None) == (options.params is None):
            raise InputError("autotune: give configs, a list of configurations, or params, not both")
        self._target, self._options, self._plan = target_of(function), options, plan
        self._configs = None if configs is None else list(configs)
        self._key, self._prune = key, prune
        self._how = dict.fromkeys(options.outputs or (), OUTPUT)
        self._how |= dict.fromkeys(restore, RESTORED) | dict.fromkeys(reset, ZEROED)
        self._known: dict[tuple[Any, ...], tuple[Configuration, Choices]] = {}
        self.name = options.name or self._target.name
        self.arg_names, self.fn = list(self._target.names), function
        self.best_config: Configuration | None = None
        self.tuned: TunedKernel | None = None
        for what, names in (("key", key), ("outputs", self._how)):
            for name in names:
                if self.arg_names and name not in self.arg_names:
                    raise InputError(f"{what}: {self.name} has no argument '{name}': it has {self.arg_names}")

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        """A launch of a Triton function with a grid."""
        if not isinstance(self._target, TritonTarget):
            raise InputError(f"{self.name} is no Triton function: call it without a grid in brackets")
        return lambda *positional, **keywords: self._called(GivenCall(positional, keywords, grid))

    def run(self, *positional: Any, grid: Any, warmup: bool = False, **keywords: Any) -> Any:
        """A launch as decorators of Triton make it."""
        if warmup:
            raise InputError(f"{self.name}: autotune compiles when it tunes: call the kernel instead")
        return self[grid](*positional, **keywords)

    def __call__(self, *positional: Any, **keywords: Any) -> Any:
        """A call of a function; of a CuPy kernel, with grid, block and arguments."""
        if isinstance(self._target, TritonTarget):
            raise InputError(f"{self.name} is a Triton function: give a grid, as {self.name}[grid](…)")
        if isinstance(self._target, CupyTarget):
            grid, block, arguments = positional
            return self._called(GivenCall(tuple(arguments), {}, grid, block, keywords))
        return self._called(GivenCall(positional, keywords))

    def _called(self, call: GivenCall) -> Any:
        named = self._named(call)
        key: tuple[Any, ...] = tuple(named.get(name) for name in self._key)
        arrays = [one for one in named.values() if is_array(one)]
        key += tuple((str(one.dtype), str(getattr(one, "device", ""))) for one in arrays)
        try:
            is_known = key in self._known
        except TypeError:  # an array or a list, which is named below
            is_known = False
        if not is_known:
            self._known[key] = self._found(call, named)
        configuration, choices = self._known[key]
        self.best_config = choices.values(configuration)
        return self._launched(call, named, configuration, choices)

    def _named(self, call: GivenCall) -> dict[str, Any]:
        names = self.arg_names or [str(place) for place in range(len(call.positional))]
        return {**dict(zip(names, call.positional, strict=False)), **call.keywords}

    def _launched(
        self, call: GivenCall, named: Mapping[str, object], configuration: Configuration, choices: Choices
    ) -> Any:
        values, hook = choices.values(configuration), choices.hook(configuration)
        if hook is not None:
            hook({**named, **values})
        return self._target.call(call, values)

    def _found(self, call: GivenCall, named: dict[str, Any]) -> tuple[Configuration, Choices]:
        """The best configuration for a key: a known one, or that of a search."""
        missing = [name for name in self._key if name not in named]
        if missing:
            raise InputError(f"{self.name}: the call does not give '{missing[0]}', which is in the key")
        arrays = arrays_of(named.values())
        sizes, others = _parted({name: named[name] for name in self._key})
        others += [f"{name}: {dtype_of(one)}" for name, one in named.items() if is_array(one)]
        choices = self._choices(named, call)
        double = sorted(choices.names & set(named))
        if double:
            raise InputError(f"{self.name}: the call gives '{double[0]}', which is a tuning parameter")
        kernel = self._kernel(choices, sizes)
        parts = [kernel.identity(), others, asdict(self._plan)]
        identity = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
        with closing(Store(self._options.store)) as store:
            rows = [
                row
                for row in store.rows(self.name)
                if set(row.trial.configuration) == set(kernel.space.names)
            ]
            own = [row.trial for row in rows if (row.identity, row.device) == (identity, arrays.device)]
            own = [one for one in own if one.configuration in kernel.space]
            passed = [one for one in own if one.time is not None]
            if passed and len(own) >= self._evaluations(kernel):
                return min(passed, key=lambda one: one.time or 0.0).configuration, choices
            memory = KernelMemory(store, self.name, identity, arrays.device, sizes)
            backend = self._backend(call, named, arrays, choices)
            prior = [row.trial.outcome for row in rows if row.identity != identity]
            search = strategy(
                *(self._options.strategy, kernel.space),
                seed=self._options.seed,
                model=self._model(named, call, choices),
                prior=prior,
            )
            work = KernelWork(kernel, arrays.device)
            devices = InThisThread(Server(backend, self._plan))
            pipeline = Pipeline(
                *(work, Minimising(search, Goals.of("time")), memory, None, devices),
                notice=self._options.notice,
            )
            try:
                progress = pipeline.run(Budget(self._evaluations(kernel), self._options.seconds))
            finally:
                backend.restore()
        self.tuned = TunedKernel(
            *(self.name, arrays.device, tuple(progress.trials)),
            seconds=progress.seconds,
            first_result=progress.first_result,
            measuring=progress.measuring,
            space_size=kernel.space.size,
        )
        if self._options.reference is None:
            self._check_agreement(self.tuned)
        return self.tuned.best.configuration, choices

    def _check_agreement(self, tuned: TunedKernel) -> None:
        """Raise `RunError` if most configurations differ from the first, which may then be the wrong one."""
        wrong = sum("wrong result: relative error" in str(one.failure) for one in tuned.failed)
        if wrong > len(tuned.ranked):
            raise RunError(
                f"{self.name}: {wrong} configurations differ from the first that ran, and "
                f"{len(tuned.ranked)} agree with it: give reference=, a function of the arguments "
                "that gives the right outputs"
            )

    def _evaluations(self, kernel: Kernel) -> int:
        most = self._options.evaluations
        if most is None:
            most = EVALUATIONS if self._configs is None else kernel.space.size
        return min(most, kernel.space.size)

    def _choices(self, named: Mapping[str, Any], call: GivenCall) -> Choices:
        if self._configs is None:
            return Choices(self._options.params or {}, self._options.constraints)
        configs, prune = self._configs, self._prune.get("early_config_prune")
        if prune is not None:
            positional = {name: one for name, one in named.items() if name not in call.keywords}
            configs = list(prune(configs, positional, **call.keywords))
        return Choices(listed=ListedConfigurations.of(configs))

    def _model(self, named: Mapping[str, Any], call: GivenCall, choices: Choices) -> Any:
        model = self._prune.get("perf_model")
        return None if model is None else lambda one: float(model(**named, **choices.values(one)))

    def _kernel(self, choices: Choices, sizes: Mapping[str, int]) -> Kernel:
        limits = _limits() if choices.constraints else {}
        return Kernel(
            *(self.name, CALLABLE, self._target.content(), self._target.name),
            space=choices.space(sizes, limits),
            numbers=Numbers({}, {}, {}),
            sizes=sizes,
        )

    def _backend(
        self, call: GivenCall, named: Mapping[str, Any], arrays: Arrays[Any], choices: Choices
    ) -> CallBackend:
        options = self._options
        how = self._how
        if not how and options.outputs is None:
            how = {name: RESTORED for name, one in named.items() if is_array(one)}
        bound = options.tolerance
        written = {
            name: Written(
                *(named[name], arrays.copied(named[name]), kind),
                bound if bound is not None and tolerance_for(named[name]) else tolerance_for(named[name]),
            )
            for name, kind in how.items()
            if is_array(named.get(name))
        }
        return CallBackend(
            lambda one: self._launched(call, named, one, choices),
            arrays,
            written,
            self._expected(named, written),
            options.timer,
        )

    def _expected(self, named: Mapping[str, object], written: Mapping[str, Written]) -> dict[str, object]:
        """The outputs that the reference gives, by the names of the arrays."""
        if self._options.reference is None:
            return {}
        found = self._options.reference(*named.values())
        if isinstance(found, Mapping):
            listed = dict(found)
        else:
            parts = list(found) if isinstance(found, list | tuple) else [found]
            outputs = [name for name, one in written.items() if one.how == OUTPUT] or list(written)
            if len(parts) != len(outputs):
                raise InputError(
                    f"the reference gives {len(parts)} arrays, but {self.name} writes {', '.join(outputs)}: "
                    "name them by outputs=[…]"
                )
            listed = dict(zip(outputs, parts, strict=True))
        strange = sorted(set(listed) - set(written))
        if strange:
            raise InputError(f"the reference names '{strange[0]}', which is no array that {self.name} writes")
        return listed


def _parted(values: Mapping[str, object]) -> tuple[dict[str, int], list[str]]:
    """Whole numbers, and the texts of other values of a key."""
    sizes, others = {}, []
    for name, value in values.items():
        if isinstance(value, bool | float | str) or value is None:
            others.append(f"{name} = {value!r}")
        elif hasattr(value, "__index__") and not is_array(value):
            sizes[name] = int(value)
        else:
            raise InputError(f"key: '{name}' is {type(value).__name__}: numbers, texts and None can be in it")
    return sizes, others


def _refuse_hooks(function: object) -> None:
    if getattr(function, "user_defined_pre_hook", False) or getattr(
        function, "user_defined_post_hook", False
    ):
        raise InputError(
            "pre_hook and post_hook of triton.autotune are not supported: give restore_value, reset_to_zero, "
            "or the pre_hook of a triton.Config"
        )


def _limits() -> dict[str, int]:
    """This machine's limits by name; nothing without a GPU."""
    from kerneltune.running.detect import detect

    try:
        found = detect()
        name = found.profile or found.nearest
        return {} if name is None else limits_of(load_profile(name))
    except KernelTuneError:
        return {}
