"""Linear programs over the integers: files in the LP and MPS formats."""
