"""From a tiling to a cubin and its report."""
