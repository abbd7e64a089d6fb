"""kerneltune: tilings of recurrent-network kernels for a GPU, solved, compiled, verified and timed."""
