"""The commands `constrint` and `fzn-constrint`."""
