"""`kerneltune.tune`: any kernel in a few lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from kerneltune.errors import InputError, MissingExtraError, RunError, nearest
from kerneltune.inputs import rules
from kerneltune.inputs.hardware import HardwareProfile, load_profile
from kerneltune.measuring.case import Case, Reference, expected_outputs
from kerneltune.measuring.measure import MeasuringPlan
from kerneltune.pipeline.run import Budget, Notice
from kerneltune.pipeline.trial import TIME
from kerneltune.searching.protocol import Strategy
from kerneltune.sources.arguments import as_array
from kerneltune.sources.description import Description
from kerneltune.sources.kernel import CALLABLE, Kernel
from kerneltune.sources.references import forbid_in_children
from kerneltune.tuning.kernel_run import RunOptions, run_kernel
from kerneltune.tuning.kernel_work import check_objectives
from kerneltune.tuning.run_processes import Ahead
from kerneltune.tuning.searches import earlier, launch_of, search, with_own_model
from kerneltune.tuning.tuned import TunedKernel

DESCRIBED = {one.name for one in fields(Description)} - {"source"}
PLANNED = {one.name for one in fields(MeasuringPlan)}
BUDGETED = {one.name for one in fields(Budget)}
RUN = {one.name for one in fields(RunOptions)} - {"plan", "budget"}
ENERGY_SECONDS = 0.3
_NAME_ONE = "name another machine's GPU, as --gpu h100_sxm or in Python gpu='h100_sxm'"
RULES = {
    "gpu": rules.optional(rules.path),
    "tolerance": rules.optional(rules.number(0)),
    "strategy": rules.either(rules.text, rules.with_methods("ask", "tell")),
    "seed": rules.whole(0),
    "notice": rules.function,
}


def tune(
    source: object,
    *,
    gpu: str | None = None,
    reference: Reference | None = None,
    tolerance: float | None = None,
    strategy: str | Strategy = "auto",
    seed: int = 0,
    notice: Notice | Callable[..., None] = lambda trial, progress: None,
    **given: object,
) -> TunedKernel:
    """Find the fastest configuration of a kernel.

    Args:
        source: A CUDA C++ or PTX file or text, a Triton function, a CuPy RawKernel, or any Python callable.
        gpu: A profile's name, or the path of its YAML file; by default this machine's GPU.
        reference: The expected outputs, or a function of the arguments' values that gives them.
        tolerance: Bound of the relative L2 error of floating-point outputs.
        strategy: The search's name, or an object with `ask` and `tell`.
        seed: The search's seed.
        notice: Called with each trial and the progress.
        given: What `Description` has (`entry`, `params`, `constraints`, `sizes`, `arguments`, `grid`,
            `block`, `shared_memory`, `timer`, …), what `MeasuringPlan` has (`runs`, `timed`, `flush`, …),
            what `Budget` has (`evaluations`, `seconds`, `no_gain`), and what `RunOptions` has (`objective`,
            `metrics`, `finalists`, `devices`, `executor`, `store`, …).

    Returns:
        The trials and the best of them.

    Raises:
        InputError: Something is wrong; the message names it.
        InfeasibleError: No configuration fits the GPU.
        MissingExtraError: An extra is not installed.
        RunError: Nothing can be run here.
    """
    forbid_in_children()
    known = DESCRIBED | PLANNED | BUDGETED | RUN
    strange = next((name for name in given if name not in known), None)
    if strange is not None:
        raise InputError(f"tune has no argument '{strange}': {nearest(strange, known)}")
    own: dict[str, Any] = {"gpu": gpu, "tolerance": tolerance, "strategy": strategy, "seed": seed}
    own = rules.plain({**own, "notice": notice})
    given = rules.plain(given)
    rules.check(own, RULES)
    described = Description(source, **_part(given, DESCRIBED))
    options = options_of(given)
    with closing(Ahead(described.language, options)) as ahead:
        kernel = described.kernel(profile_for(described, gpu))
        case = partial(case_of, described, kernel, reference, tolerance)
        return tuned(kernel, case, options, strategy, own["seed"], notice, ahead)


def options_of(given: Mapping[str, Any]) -> RunOptions:
    """The options among some named values."""
    options = RunOptions(
        plan=MeasuringPlan(**_part(given, PLANNED)),
        budget=Budget(**_part(given, BUDGETED)),
        **_part(given, RUN),
    )
    plan, names = options.plan, options.goals.names
    if "energy" in names and not plan.energy_seconds:
        plan = replace(plan, energy_seconds=ENERGY_SECONDS)
    if names != (TIME,):
        plan = replace(plan, patience=0.0)  # a slow candidate may be good for something else
    return replace(options, plan=plan)


def prepared(
    described: Description, gpu: str | None, reference: Reference | None, tolerance: float | None
) -> tuple[Kernel, Case]:
    """The kernel on a GPU, and its case."""
    kernel = described.kernel(profile_for(described, gpu))
    return kernel, case_of(described, kernel, reference, tolerance)


def case_of(
    described: Description, kernel: Kernel, reference: Reference | None, tolerance: float | None
) -> Case:
    """The case of a kernel; calls the reference."""
    expected = expected_outputs(kernel.arguments, reference)
    constants = {name: as_array(array, f"constant {name}") for name, array in described.constants.items()}
    return Case(kernel.arguments, expected, tolerance, constants)


def tuned(
    kernel: Kernel,
    case: Case | Callable[[], Case],
    options: RunOptions,
    strategy: str | Strategy = "auto",
    seed: int = 0,
    notice: Notice = lambda trial, progress: None,
    ahead: Ahead | None = None,
) -> TunedKernel:
    """Tune a kernel with its case, or with a function that gives it while the first are compiled."""
    check(kernel, options)
    timer_is_hidden = kernel.details.get("timer") == ""
    if kernel.kind == CALLABLE and (not kernel.source or timer_is_hidden):
        options = replace(options, isolated=False)  # no child can import it
    options = with_own_model(kernel, options)
    if not isinstance(strategy, str):
        return run_kernel(kernel, case, strategy, options, notice, ahead)
    prior = earlier(kernel, options) if options.transfer else ()
    made = search(strategy, kernel.space, options, seed, prior, launch_of(kernel))
    return run_kernel(kernel, case, made, options, notice, ahead)


def check(kernel: Kernel, options: RunOptions) -> None:
    """Raise `InputError` for options that do not fit a kernel, before anything is compiled."""
    if not options.observers and options.judge is None:  # which report what they like
        check_objectives(kernel, options.goals.names, [*options.metrics, *options.counters])


def profile_for(described: Description, gpu: str | None) -> HardwareProfile | None:
    """The profile to tune for; None for callables without one.

    Raises:
        RunError: There is no GPU here, and none is named.
    """
    if gpu is not None:
        return load_profile(gpu)
    is_kernel = isinstance(described.source, str | Path) or hasattr(described.source, "code")
    is_kernel = is_kernel or hasattr(described.source, "arg_names") or described.kind in ("cuda", "ptx")
    if not is_kernel:
        return None
    from kerneltune.running.detect import detect

    try:
        found = detect()
    except MissingExtraError:
        raise
    except RunError as error:
        raise RunError(f"{error}: {_NAME_ONE}") from None
    name = found.profile or found.nearest
    if name is None:
        raise RunError(f"{found.sentence}: {_NAME_ONE}")
    return load_profile(name)


def _part(given: Mapping[str, Any], names: Sequence[str] | set[str]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name in names}
