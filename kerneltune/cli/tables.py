"""Tables of tilings, compile reports, measurements and profiles."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kerneltune.inputs.descriptions import Kernels
from kerneltune.inputs.hardware import HardwareProfile
from kerneltune.tiling.candidate import Candidate

FILE_WIDTH = 160  # columns if the output is not a terminal

if TYPE_CHECKING:
    from rich.table import Table

    from kerneltune.cli.doctor import Finding
    from kerneltune.compiling.feedback import Settled
    from kerneltune.inputs.profile_checks import Difference
    from kerneltune.pipeline.tiling_trial import TilingTrial
    from kerneltune.tiling.fit import Fit
    from kerneltune.tuning.replay_bench import StrategyRuns
    from kerneltune.tuning.report import Report
    from kerneltune.tuning.tuner import Tuned


def show_tiling(candidate: Candidate, profile: HardwareProfile, kernels: Kernels) -> None:
    """Print the chosen strategy, its numbers with their meaning, and its resources."""
    strategy = kernels.strategy(candidate.strategy)
    microseconds = candidate.microseconds_per_step
    total = microseconds * candidate.problem.steps / 1e3
    _say(f"{candidate.problem.label} on {profile.name} ({profile.title})")
    _say(f"strategy   {strategy.name}: {strategy.spec.summary}")
    _say(
        f"predicted  {microseconds:.3f} µs per step: {candidate.cycles} cycles at {profile.boost_mhz} MHz"
        f"{' for all' if candidate.problem.modelled_steps > 1 else ''}; "
        f"{total:.3f} ms for {candidate.problem.steps} steps"
    )
    _say("")
    knobs = _table("knob", "value", "meaning")
    for name, meaning in strategy.spec.knobs.items():
        knobs.add_row(name, str(candidate.parameters[name]), meaning)
    if strategy.spec.knobs:
        _print(knobs)
        _say("")
    _print(_resources(candidate, profile))


def show_replayed(rows: Sequence[StrategyRuns], objectives: int = 1) -> None:
    """Print what several searches reached on recorded measurements, for one objective or for a front."""
    found, unit = ("best found", " times") if objectives == 1 else ("hypervolume of the front", "")
    table = _table("strategy", found, "within 5 %", "evaluations until then", "seconds of a run")
    for row in rows:
        table.add_row(
            row.strategy,
            "none passed" if row.ratio is None else f"{row.ratio}{unit}",
            f"{row.near} of {row.seeds}",
            "-" if row.evaluations is None else str(row.evaluations),
            "-" if row.seconds is None else str(row.seconds),
        )
    _print(table)


def show_ranking(candidates: Sequence[Candidate]) -> None:
    """Print several tilings of one request, the fastest first."""
    table = _table("", "strategy", "µs per step", "blocks", "threads", "registers", "shared", "parameters")
    for rank, candidate in enumerate(candidates, 1):
        parameters = " ".join(f"{name}={value}" for name, value in candidate.parameters.items())
        table.add_row(
            str(rank),
            candidate.strategy,
            f"{candidate.microseconds_per_step:.3f}",
            str(candidate.blocks),
            str(candidate.threads),
            str(candidate.registers),
            _size(candidate.shared_memory),
            parameters,
        )
    _print(table)


def show_compilation(settled: Settled) -> None:
    """Print a compile report: predicted and actual resources, and the rounds of the register loop."""
    report = settled.compiled.report
    for number, turn in enumerate(settled.tightenings, 1):
        _say(f"turn {number}: {turn.sentence}")
    how = "from the cache" if report.cached else f"in {report.seconds:.2f} s"
    _say(f"compiled {how} by {report.compiler}: {report.cubin_bytes} bytes of cubin")
    _say("")
    table = _table("resource", "predicted", "actual", "")
    rows = (
        ("registers per thread", report.predicted_registers, report.registers, "at most"),
        ("shared memory per block", report.predicted_shared_memory, report.shared_memory, "exactly"),
        ("spilled bytes", 0, report.spill_stores + report.spill_loads, "exactly"),
        ("stack bytes", None, report.stack, ""),
        ("blocks per SM", report.predicted_blocks_per_sm, report.blocks_per_sm, "at least"),
    )
    for name, predicted, actual, relation in rows:
        promised = "" if predicted is None else f"{relation} {predicted}"
        kept = predicted is None or _kept(relation, predicted, actual)
        table.add_row(name, promised, str(actual), "" if kept else "broken")
    _print(table)


_MEASURED: dict[str, Callable[[TilingTrial], str]] = {
    "result": lambda trial: trial.verdict,
    "same bits": lambda trial: f"{trial.notes.get('runs', 0):.0f} runs",
    "µs per step": lambda trial: _number(trial.microseconds_per_step),
    "predicted": lambda trial: _number(trial.candidate.microseconds_per_step if trial.time else None),
    "ratio": lambda trial: _number(trial.ratio),
    "ms": lambda trial: _number(trial.time),
}
"""The columns of a run's table, after rank and strategy."""


def show_trials(trials: Sequence[TilingTrial]) -> None:
    """Print the trials of a run: correctness, time, and deviation from the prediction."""
    table = _table("", "strategy", *_MEASURED)
    for rank, trial in enumerate(trials, 1):
        cells = [cell(trial) for cell in _MEASURED.values()] if trial.passed else [trial.sentence]
        table.add_row(str(rank), trial.candidate.strategy, *cells)
    _print(table)


def show_tuned(tuned: Tuned, store: Path) -> None:
    """Print the candidates that passed, the fastest first, and the rank of the model's first choice."""
    table = _table("", "strategy", "ms", "µs per step", "predicted", "ratio", "parameters")
    for rank, trial in enumerate(tuned.ranked, 1):
        candidate = trial.candidate
        parameters = " ".join(f"{name}={value}" for name, value in candidate.parameters.items())
        table.add_row(
            str(rank),
            candidate.strategy,
            _number(trial.time),
            _number(trial.microseconds_per_step),
            _number(candidate.microseconds_per_step),
            _number(trial.ratio),
            parameters,
        )
    _print(table)
    failed = len(tuned.trials) - len(tuned.ranked)
    _say(f"{len(tuned.ranked)} passed, {failed} failed, {tuned.from_store} known before; kept in {store}")
    choice = tuned.first_choice
    if choice is not None:
        _say(f"the model's first choice is number {choice.rank} of {choice.of}, {_loss(choice.loss)}")


def show_report(report: Report, store: Path) -> None:
    """Print the fastest tiling of each request, and the quality of the cost model over all."""
    table = _table(
        "request", "steps", "pass", "GPU", "tried", "failed", "strategy", "ms", "first choice", "slower by"
    )
    for entry in report.problems:
        best = entry.best
        choice = entry.choice
        table.add_row(
            entry.problem.label,
            str(entry.problem.steps),
            entry.problem.direction,
            entry.gpu,
            str(entry.tried),
            str(entry.failed),
            best.candidate.strategy if best else "",
            _number(best.time) if best else "",
            f"{choice.rank} of {choice.of}" if choice else "",
            f"{choice.loss:.1%}" if choice else "",
        )
    _print(table)
    _say(f"{len(report.problems)} requests in {store}")
    if report.compared and report.mean_loss is not None:
        _say(
            f"cost model: its first choice was the fastest in {report.first_is_fastest} of {report.compared} "
            f"requests with several timed tilings, on average {_loss(report.mean_loss)}, "
            f"at worst {report.worst_loss:.1%}"
        )
    if report.residual is not None:
        _say(f"cost model: root mean square of log(measured / predicted) {report.residual:.3f}")


def show_fit(fit: Fit, profile: HardwareProfile) -> None:
    """Print the constants as lines of a profile's cost section, and their quality."""
    _say(f"cost:  # of {profile.name}, fitted to {fit.tilings} measured tilings")
    for constant in fit.constants:
        what = f"was {constant.before}; matters to {constant.tilings} tilings"
        _say(f"  {constant.name}: {constant.after}  # {what}")
    _say("")
    table = _table("pass and strategy", "tilings", "residual before", "after")
    for name, (count, before, after) in fit.parts.items():
        table.add_row(name, str(count), f"{before:.3f}", f"{after:.3f}")
    _print(table)
    for when, found in (("before", fit.before), ("after", fit.after)):
        _say(
            f"{when}: root mean square of log(predicted / measured) {found.residual:.3f}, "
            f"at worst a factor of {found.worst:.2f}; the first choice is the fastest in "
            f"{found.first_is_fastest} of {found.requests} requests, "
            f"on average {_loss(found.mean_loss)}, at worst {found.worst_loss:.1%}"
        )
    for reason in fit.left_out:
        _say(reason)


def _loss(loss: float) -> str:
    return f"{loss:.1%} slower than the fastest"


def show_profile(profile: HardwareProfile) -> None:
    """Print every limit and cost of a profile."""
    capability = f"compute capability {profile.compute_capability} ({profile.target})"
    _say(f"{profile.name}: {profile.title}, {capability}")
    if profile.based_on is not None:
        _say(f"keys missing in its file come from {profile.based_on}")
    _say("")
    limits = _table("limit or capability", "value")
    for name, value in profile.to_json().items():
        if isinstance(value, bool):
            limits.add_row(name, "yes" if value else "no")
        elif isinstance(value, int):
            limits.add_row(name, str(value))
    for dtype, shapes in profile.mma_shapes.items():
        limits.add_row(f"mma_shapes {dtype}", ", ".join("×".join(map(str, shape)) for shape in shapes))
    _print(limits)
    _say("")
    costs = _table("cost", "cycles, or bytes or operations per cycle")
    for name, cost in profile.cost.items():
        costs.add_row(name, str(cost))
    _print(costs)


def _tensor_cores(profile: HardwareProfile) -> Iterator[str]:
    """The dtypes of tensor-core products; with their shapes, where kernels have none of these."""
    for dtype in profile.mma_shapes:
        other = profile.other_products(dtype)
        yield f"{dtype} ({', '.join(other)})" if other else dtype


def show_profiles(profiles: Sequence[HardwareProfile]) -> None:
    """Print one line for each profile."""
    table = _table(
        "profile", "GPU", "capability", "SMs", "shared memory per block", "clusters up to", "tensor cores"
    )
    for profile in profiles:
        table.add_row(
            profile.name,
            profile.title,
            profile.compute_capability,
            str(profile.sm_count),
            _size(profile.smem_per_block_optin),
            str(profile.cluster_max),
            ", ".join(_tensor_cores(profile)),
        )
    _print(table)


def show_differences(first: HardwareProfile, second: HardwareProfile, found: Sequence[Difference]) -> None:
    """Print the keys in which two profiles differ, with the ratio of numbers."""
    if not found:
        _say(f"{first.name} and {second.name} agree in every limit, capability and cost")
        return
    table = _table("key", first.name, second.name, "ratio")
    for item in found:
        ratio = "" if item.ratio is None else f"{item.ratio:.3g}"
        table.add_row(item.key, _value(item.first), _value(item.second), ratio)
    _print(table)


def show_findings(found: Sequence[Finding]) -> None:
    """Print what ``kerneltune doctor`` found, with what to do."""
    marks = {"ok": "✓", "absent": "–", "broken": "✗"}
    for finding in found:
        _say(f"{marks[finding.state]} {finding.what}: {finding.detail}")
        if finding.fix and finding.state != "ok":
            _say(f"    {finding.fix}")


def _value(value: object) -> str:
    if value is None:
        return "–"
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _resources(candidate: Candidate, profile: HardwareProfile) -> Table:
    table = _table("resource", "used", "limit")
    held = profile.sm_count * candidate.blocks_per_sm
    rows = (
        ("threads per block", str(candidate.threads), str(profile.max_threads_per_block)),
        ("registers per thread", str(candidate.registers), str(profile.max_registers_per_thread)),
        (
            "registers per block",
            str(candidate.registers * candidate.threads),
            str(profile.registers_per_block),
        ),
        ("shared memory per block", _size(candidate.shared_memory), _size(profile.smem_per_block_optin)),
        ("blocks per cluster", str(candidate.cluster), str(profile.cluster_max)),
        (
            "blocks in all",
            str(candidate.blocks),
            f"{held} at a time ({candidate.blocks_per_sm} on each of {profile.sm_count} SMs)",
        ),
    )
    for row in rows:
        table.add_row(*row)
    return table


def _kept(relation: str, predicted: int, actual: int) -> bool:
    if relation == "at most":
        return actual <= predicted
    return actual >= predicted if relation == "at least" else actual == predicted


def _size(size: int) -> str:
    return f"{size / 1024:.1f} KiB" if size >= 1024 else f"{size} bytes"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _table(*columns: str) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for place, column in enumerate(columns):
        table.add_column(column, overflow="fold", no_wrap=place == 0)
    return table


def _print(renderable: object) -> None:
    from rich.console import Console

    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = FILE_WIDTH
    console.print(renderable)


def _say(line: str) -> None:
    import click

    click.echo(line)
