"""The product by numpy, in float64; the parts are not compared."""

import numpy as np


def reference(a, b, *_):
    """The rows of a times those of b."""
    return {"out": a.astype(np.float64) @ b.astype(np.float64).T}
