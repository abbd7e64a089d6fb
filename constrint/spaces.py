"""Auto-tuners' search spaces as sets of solutions: the public names of `constrint.tuning`."""

from constrint.tuning.spaces import Space, from_json, from_tune_params, to_t1

__all__ = ["Space", "from_json", "from_tune_params", "to_t1"]
