"""The best known configurations of a kernel as a C++ header."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from kerneltune.errors import InputError
from kerneltune.pipeline.trial import TIME
from kerneltune.searching.protocol import Configuration
from kerneltune.tuning.kernel_store import KernelStore, StoredKernel


def header_text(kernel: str, store: Path | str | None = None) -> str:
    """A header with a structure of the kernel's parameters and a table of the best, by device and sizes.

    Its function `best(device, sizes …)` gives the configuration of a device's name and sizes: an exact one,
    else one of the device, else the first.

    Raises:
        InputError: The store has no result of the kernel.
    """
    opened = KernelStore(store)
    try:
        rows = [row for row in opened.rows(kernel) if row.trial.time is not None]
    finally:
        opened.close()
    best: dict[str, StoredKernel] = {}
    for row in rows:
        key = json.dumps([row.device, sorted(row.sizes.items())])
        if key not in best or row.trial.objectives[TIME] < best[key].trial.objectives[TIME]:
            best[key] = row
    if not best:
        raise InputError(f"the store has no result of {kernel}: tune it first")
    chosen = list(best.values())
    first = chosen[-1]
    parameters, sizes = list(first.trial.configuration), sorted(first.sizes)
    chosen = [r for r in chosen if list(r.trial.configuration) == parameters and sorted(r.sizes) == sizes]
    return _text(kernel, parameters, sizes, chosen)


def _text(kernel: str, parameters: list[str], sizes: list[str], rows: list[StoredKernel]) -> str:
    name = re.sub(r"\W", "_", kernel)
    types = {one: _type([row.trial.configuration[one] for row in rows]) for one in parameters}
    fields = "\n".join(f"  {types[one]} {one};" for one in parameters)
    size_fields = "".join(f"  long long {one};\n" for one in sizes)
    lines = ",\n".join("    {" + ", ".join(_row(row, parameters, sizes)) + "}" for row in rows)
    arguments = "".join(f", long long {one}" for one in sizes)
    same = " && ".join(f"row.{one} == {one}" for one in sizes) or "true"
    return f"""// The best known configurations of {kernel}, written by kerneltune; do not edit.
#pragma once
#include <string_view>

namespace kerneltune_{name} {{

struct Configuration {{
{fields}
}};

struct Row {{
  std::string_view device;
{size_fields}  Configuration configuration;
}};

inline constexpr Row rows[] = {{
{lines},
}};

// The configuration of a device and sizes; else of the device's first row, else of the first row.
constexpr Configuration best(std::string_view device{arguments}) {{
  const Row* found = nullptr;
  for (const Row& row : rows) {{
    if (row.device != device) continue;
    if ({same}) return row.configuration;
    if (found == nullptr) found = &row;
  }}
  return (found == nullptr ? rows[0] : *found).configuration;
}}

}}  // namespace kerneltune_{name}
"""


def _row(row: StoredKernel, parameters: list[str], sizes: list[str]) -> list[str]:
    configuration: Configuration = row.trial.configuration
    values = ", ".join(_literal(configuration[one]) for one in parameters)
    return [_literal(row.device), *(str(row.sizes[one]) for one in sizes), "{" + values + "}"]


def _type(values: list[Any]) -> str:
    if all(isinstance(value, bool) for value in values):
        return "bool"
    if all(isinstance(value, int) for value in values):
        return "long long"
    return "double" if all(isinstance(value, int | float) for value in values) else "std::string_view"


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value) if isinstance(value, str) else repr(value)
