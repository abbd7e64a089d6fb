"""The learning search: each failure is explained, and a clause that excludes its cause is learned.

One source runs interpreted on lists and compiled on arrays, like the engine. Read `layout` first;
docs/constrint-learn.md has a table of all arrays and the sources of the algorithms.
"""
