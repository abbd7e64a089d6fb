"""Names of storage types: usual aliases are accepted, and no hint lowers a precision."""

from __future__ import annotations

import random
import re

import pytest

from kerneltune.errors import InputError
from kerneltune.inputs.dtypes import ALIASES, DTYPES, SIGNIFICANT_BITS, dtype_of
from kerneltune.inputs.problem import Problem


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        *(("float32", "fp32"), ("FP32", "fp32"), ("torch.float32", "fp32"), ("np.float32", "fp32")),
        *(("single", "fp32"), ("float", "fp32"), ("Float_32", "fp32"), ("f32", "fp32"), (" fp32 ", "fp32")),
        *(("BF16", "bf16"), ("bfloat16", "bf16"), ("torch.bfloat16", "bf16"), ("BFloat-16", "bf16")),
        *(("half", "fp16"), ("float16", "fp16"), ("Half", "fp16"), ("np.float16", "fp16"), ("F16", "fp16")),
        *(("TF32", "tf32"), ("TensorFloat-32", "tf32"), ("tf.float32", "fp32")),
    ],
)
def test_usual_names_are_taken(name: str, dtype: str) -> None:
    assert dtype_of(name) == dtype
    problem = Problem("lstm", 1, 64, 4, name)
    assert problem == Problem("lstm", 1, 64, 4, dtype)
    assert problem.dtype == dtype


def test_every_alias_is_taken_in_any_case() -> None:
    for dtype, aliases in ALIASES.items():
        for alias in aliases:
            for name in (alias, alias.upper(), alias.capitalize(), f"torch.{alias}"):
                assert dtype_of(name) == dtype


def hinted(name: str) -> str | None:
    with pytest.raises(InputError, match="unknown dtype") as caught:
        dtype_of(name)
    found = re.search(r"did you mean '(\w+)'\?$", str(caught.value))
    assert found or str(caught.value).endswith(
        ("known: bf16, fp16, fp32, tf32", "the most precise one is 'fp32'")
    )
    return found[1] if found else None


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        *(("bf61", "bf16"), ("fp31", "fp32"), ("flaot32", "fp32"), ("float32x", "fp32"), ("fp61", "fp32")),
        *(("tf23", "tf32"), ("halff", "fp16"), ("float61", "fp32"), ("float16x", "fp16")),
        *(("float64", None), ("double", None), ("FP64", None), ("int8", None), ("", None), ("xyz", None)),
    ],
)
def test_hints(name: str, hint: str | None) -> None:
    assert hinted(name) == hint


def test_no_hint_lowers_a_precision() -> None:
    """Names with a slip of the hand: what is meant, or more."""
    draw = random.Random(5)
    letters = "abdefhilnoprst_123468"
    for _ in range(3000):
        dtype = draw.choice(sorted(DTYPES))
        name = draw.choice(ALIASES[dtype])
        place = draw.randrange(len(name))
        slip = draw.choice(["", draw.choice(letters), name[place] + draw.choice(letters)])
        wrong = name[:place] + slip + name[place + 1 :]
        try:
            dtype_of(wrong)
        except InputError:
            found = hinted(wrong)
            # A name that lost what tells its kind may be meant otherwise; one that has it may not be lowered.
            meant = SIGNIFICANT_BITS[dtype] if not wrong.startswith(("b", "t")) else 0
            meant = meant if "16" not in wrong and "half" not in wrong else min(meant, 11)
            assert found is None or SIGNIFICANT_BITS[found] >= meant, (name, wrong, found)
