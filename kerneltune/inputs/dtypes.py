"""Names of storage types: kerneltune's own, and the aliases that users know from other tools."""

from __future__ import annotations

import re

from kerneltune.errors import InputError, nearest

DTYPES = {"bf16": 2, "fp16": 2, "fp32": 4, "tf32": 4}  # bytes of one stored number
# Significant bits of the factors of a product.
SIGNIFICANT_BITS = {"bf16": 8, "fp16": 11, "tf32": 11, "fp32": 24}
ALIASES = {
    "bf16": ("bf16", "bfloat16", "bfloat", "brainfloat16", "brainfloat"),
    "fp16": ("fp16", "float16", "f16", "half", "halffloat", "halfprecision", "binary16"),
    "fp32": ("fp32", "float32", "f32", "single", "singleprecision", "float", "binary32"),
    "tf32": ("tf32", "tfloat32", "tensorfloat32", "tensorfloat"),
}
KNOWN = {alias: dtype for dtype, aliases in ALIASES.items() for alias in aliases}
MODULES = re.compile(r"(torch|numpy|np|jnp|jax\.numpy|tf|tensorflow|ml_dtypes)\.")


def dtype_of(name: str) -> str:
    """The storage type of that name; case, hyphens and a module prefix before a dot do not matter.

    Raises:
        InputError: There is none. The hint names no type of lower precision than the name suggests.
    """
    plain = re.sub(r"[\s_-]", "", MODULES.sub("", name.strip().lower(), count=1))
    if plain in KNOWN:
        return KNOWN[plain]
    if re.search(r"64|80|128|double|longdouble|quad|exact", plain):
        raise InputError(f"unknown dtype '{name}': the most precise one is 'fp32'")
    choices = [alias for alias, dtype in KNOWN.items() if SIGNIFICANT_BITS[dtype] >= _least_bits(plain)]
    hint = re.sub(r"'(\w+)'", lambda found: f"'{KNOWN[found[1]]}'", nearest(plain, choices))
    if not hint.startswith("did you mean"):
        hint = "known: " + ", ".join(sorted(DTYPES))
    raise InputError(f"unknown dtype '{name}': {hint}")


def _least_bits(plain: str) -> int:
    """The number of significant bits that an unknown name suggests."""
    if plain.startswith(("tf", "tensor")):
        return SIGNIFICANT_BITS["tf32"]
    if "32" in plain or "single" in plain:
        return SIGNIFICANT_BITS["fp32"]
    if plain.startswith(("b", "brain")):
        return SIGNIFICANT_BITS["bf16"]
    if "16" in plain or "half" in plain:
        return SIGNIFICANT_BITS["fp16"]
    return SIGNIFICANT_BITS["fp32"]
