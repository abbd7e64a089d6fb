"""Clauses and pseudo-Boolean constraints: files in the DIMACS, WCNF and OPB formats."""
