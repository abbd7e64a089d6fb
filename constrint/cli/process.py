"""Settings of a command-line process, made before anything else; a library must not make them."""

from __future__ import annotations

import os
import sys


def begin() -> None:
    """Print integers of any length, and start no threads of linear algebra.

    Exact models have exact answers, whatever their length. numpy starts a thread for each core when imported,
    which takes as long as the rest of its import; nothing here multiplies matrices.
    """
    sys.set_int_max_str_digits(0)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
