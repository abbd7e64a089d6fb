"""Search that learns: each failure is explained, and a clause that forbids its cause is kept.

One source that runs interpreted on lists or compiled by numba on arrays, as the engine's. Read `layout`
first; docs/constrint-learn.md tables every array and names the sources of the algorithms.
"""
