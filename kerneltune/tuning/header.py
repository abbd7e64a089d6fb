"""The best known configurations of a kernel as a C++ header."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from kerneltune.errors import InputError
from kerneltune.pipeline.trial import TIME
from kerneltune.sources.names import check_names, literal, quoted, type_of, unused
from kerneltune.tuning.store import Store, StoredTrial

PUBLIC = ("Configuration", "Row", "Sizes", "best", "std")  # what users see of a header, and what it uses


def header_text(kernel: str, store: Path | str | None = None, declared: Sequence[str] = ()) -> str:
    """A header with a structure of the kernel's parameters and a table of the best, by device and sizes.

    Its function `best(device, {sizes})` gives the configuration of a device's name and sizes: an exact one,
    else one of the device, else the first. Sizes are named fields of a structure, in their declared order.

    Args:
        kernel: The kernel's name.
        store: The file of results; None: the user's own.
        declared: The names of the sizes in the order in which the kernel declares them; the alphabet's for
            others.

    Raises:
        InputError: The store has no result of the kernel, or a name or value that C++ cannot have.
    """
    opened = Store(store)
    try:
        rows = [row for row in opened.rows(kernel) if row.trial.time is not None]
    finally:
        opened.close()
    best: dict[str, StoredTrial] = {}
    for row in rows:
        key = json.dumps([row.device, sorted(row.sizes.items())])
        if key not in best or row.trial.objectives[TIME] < best[key].trial.objectives[TIME]:
            best[key] = row
    if not best:
        raise InputError(f"the store has no result of {kernel}: tune it first")
    chosen = list(best.values())
    first = chosen[-1]
    parameters = list(first.trial.configuration)
    sizes = [one for one in declared if one in first.sizes]
    sizes += sorted(set(first.sizes) - set(sizes))
    chosen = [r for r in chosen if list(r.trial.configuration) == parameters and set(r.sizes) == set(sizes)]
    return _text(kernel, parameters, sizes, chosen)


def _text(kernel: str, parameters: list[str], sizes: list[str], rows: list[StoredTrial]) -> str:
    check_names(parameters, "parameter", PUBLIC)
    check_names(sizes, "size", PUBLIC)
    name = re.sub(r"[^A-Za-z0-9]+", "_", kernel)
    values = {one: [row.trial.configuration[one] for row in rows] for one in parameters}
    types = {one: type_of(values[one], f"the parameter '{one}'") for one in parameters}
    fields = "\n".join(f"  {types[one]} {one};" for one in parameters)
    size_types = {one: type_of([row.sizes[one] for row in rows], f"the size '{one}'") for one in sizes}
    size_fields = "".join(f"  {size_types[one]} {one};\n" for one in sizes)
    lines = ",\n".join("    {" + ", ".join(_row(row, types, size_types)) + "}" for row in rows)
    # What the header itself names must not hide a size.
    device, own, table, row, found, asked = (
        unused(word, sizes) for word in ("device", "configuration", "rows", "row", "found", "sizes")
    )
    same = " && ".join(f"{row}.{asked}.{one} == {asked}.{one}" for one in sizes) or "true"
    return f"""// The best known configurations of {quoted(kernel)}, written by kerneltune; do not edit.
#pragma once
#include <limits>
#include <string_view>

namespace kerneltune_{name} {{

struct Configuration {{
{fields}
}};

struct Sizes {{
{size_fields}}};

struct Row {{
  std::string_view {device};
  Sizes {asked};
  Configuration {own};
}};

inline constexpr Row {table}[] = {{
{lines},
}};

// The configuration of a device and sizes; else of the device's first row, else of the first row.
constexpr Configuration best(std::string_view {device}, [[maybe_unused]] const Sizes& {asked} = {{}}) {{
  const Row* {found} = nullptr;
  for (const Row& {row} : {table}) {{
    if ({row}.{device} != {device}) continue;
    if ({same}) return {row}.{own};
    if ({found} == nullptr) {found} = &{row};
  }}
  return ({found} == nullptr ? {table}[0] : *{found}).{own};
}}

}}  // namespace kerneltune_{name}
"""


def _row(row: StoredTrial, types: Mapping[str, str], size_types: Mapping[str, str]) -> list[str]:
    configuration = row.trial.configuration
    values = ", ".join(literal(configuration[one], type_) for one, type_ in types.items())
    sizes = ", ".join(literal(row.sizes[one], type_) for one, type_ in size_types.items())
    return [literal(row.device, "std::string_view"), "{" + sizes + "}", "{" + values + "}"]
