"""The objectives whose direction Kernel Tuner defines."""

HIGHER_IS_BETTER = {
    **dict.fromkeys(("time", "energy", "cost", "loss"), False),
    **dict.fromkeys(("fitness", "GFLOP/s", "TFLOP/s", "GB/s", "TB/s"), True),
    **dict.fromkeys(("GFLOPS/W", "TFLOPS/W", "GFLOP/J", "TFLOP/J"), True),
}
"""Whether the greatest value is the best."""
