"""The checker of proofs, which imports no solver code."""
