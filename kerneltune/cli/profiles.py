"""``kerneltune profile``: lists, shows, compares, checks and detects profiles of GPUs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.exceptions import Exit

from kerneltune.cli.failures import print_json, reporting
from kerneltune.cli.options import FILE, HELP, json_option
from kerneltune.cli.writing import write_file
from kerneltune.errors import InputError, KernelTuneError
from kerneltune.inputs.hardware import load_profile, profile_names

if TYPE_CHECKING:
    from kerneltune.running.detect import Detected


@click.group(name="profile", context_settings=HELP, no_args_is_help=True)
def profile_app() -> None:
    """Show, compare, check and detect GPU profiles."""


@profile_app.command(name="list")
@json_option
def profile_list(as_json: bool) -> None:
    """List the profiles that come with the package."""
    with reporting(as_json):
        profiles = [load_profile(name) for name in profile_names()]
        if as_json:
            print_json([profile.to_json() for profile in profiles])
            return
        from kerneltune.cli.tables import show_profiles

        show_profiles(profiles)


@profile_app.command(name="show")
@click.argument("name")
@json_option
def profile_show(name: str, as_json: bool) -> None:
    """Show every limit and cost of one profile."""
    with reporting(as_json):
        profile = load_profile(name)
        if as_json:
            print_json(profile.to_json())
            return
        from kerneltune.cli.tables import show_profile

        show_profile(profile)


@profile_app.command(name="diff")
@click.argument("first")
@click.argument("second")
@json_option
def profile_diff(first: str, second: str, as_json: bool) -> None:
    """Show the keys in which two profiles differ."""
    with reporting(as_json):
        from kerneltune.inputs.profile_checks import differences

        profiles = load_profile(first), load_profile(second)
        found = differences(*profiles)
        if as_json:
            print_json({item.key: [item.first, item.second] for item in found})
            return
        from kerneltune.cli.tables import show_differences

        show_differences(*profiles, found)


@profile_app.command(name="check")
@click.argument("names", nargs=-1)
@json_option
def profile_check(names: tuple[str, ...], as_json: bool) -> None:
    """Check profiles: errors (exit code 2), and values that are legal and yet doubtful (exit code 0)."""
    from kerneltune.inputs.profile_checks import doubts

    results: dict[str, dict[str, list[str]]] = {}
    for name in names or profile_names():
        try:
            results[name] = {"errors": [], "doubts": doubts(load_profile(name))}
        except InputError as error:
            results[name] = {"errors": str(error).splitlines(), "doubts": []}
    if as_json:
        print_json(results)
    else:
        for name, found in results.items():
            lines = [*found["errors"], *(f"doubtful: {doubt}" for doubt in found["doubts"])]
            click.echo(
                "\n".join([f"{name}: {'ok' if not lines else ''}".rstrip(), *(f"  {x}" for x in lines)])
            )
    if any(found["errors"] for found in results.values()):
        raise Exit(KernelTuneError.exit_code)


@profile_app.command(name="schema")
def profile_schema_command() -> None:
    """Print the JSON Schema of a profile's file, for editors."""
    from kerneltune.inputs.profile_checks import profile_schema

    click.echo(json.dumps(profile_schema(), indent=2))


@profile_app.command(name="detect")
@click.option(
    "--write", type=FILE, help="Write a profile to FILE.yaml, with costs that micro-benchmarks measure."
)
@json_option
def profile_detect(write: Path | None, as_json: bool) -> None:
    """Print the profile that fits this machine's GPU."""
    with reporting(as_json):
        from kerneltune.running.detect import detect

        found = detect()
        if write is not None:
            _write_profile(write, found)
        if as_json:
            print_json(found.to_json())
            return
        click.echo(found.sentence)


def _write_profile(path: Path, found: Detected) -> None:
    """Measure the costs of this machine's GPU, and write its profile."""
    from kerneltune.tuning.micro import measured_costs, written_profile

    if path.suffix not in (".yaml", ".yml"):
        raise InputError(f"--write: a profile's path must end in .yaml, not {path}")
    if path.exists():
        raise InputError(f"--write: {path} exists: name another file")
    near = found.profile or found.nearest
    if near is None:
        raise InputError(f"--write: {found.sentence}")
    costs, copied = measured_costs(load_profile(near))
    origin = f"{found.facts.name}, by kerneltune profile detect --write."
    text = written_profile(found, path.stem, costs, copied, origin)
    write_file(path, text)
    load_profile(str(path))
    for name, cost in costs.items():
        click.echo(f"{name}: {cost}", err=True)
    click.echo(f"written to {path}: give it to --gpu", err=True)
