"""Selection among many decision variables: they are ranked in a tree.

A scan at each node takes time quadratic in the number of variables. Instead, below each node of a complete
binary tree the entry of `branch` that is decided first is known. Only entries whose domain or score has
changed since the last selection are ranked again. The choice is that of a scan.
"""

from __future__ import annotations

from constrint.engine.select import IN_ORDER, share_by, size_by
from constrint.engine.stale import mark_trailed
from constrint.store.state import LEAVES, LEVEL, STALE, State, compilable

STALE_SHARE = 8  # all entries are ranked if more than one in this many is stale


@compilable
def rank(st: State, i: int) -> None:
    """Note the rank of an entry of `branch`, or that its variable is fixed, in the leaf of the tree."""
    v = st.branch[i]
    leaf = st.scalar[LEAVES] + i
    if st.lo[v] == st.hi[v]:
        st.rank_tree[leaf] = -1
        return
    rule = st.group_rule[st.rank_group[i]]
    st.rank_tree[leaf] = i
    if rule == IN_ORDER:
        st.rank_size[i] = 0
        st.rank_share[i] = 1
    else:
        st.rank_size[i] = size_by(st, i, v, rule)
        st.rank_share[i] = share_by(st, i, rule)


@compilable
def better(st: State, left: int, right: int) -> int:
    """The one of two entries that is decided first, or -1 for none; of equals the left one."""
    if left < 0:
        return right
    if right < 0 or st.rank_group[left] != st.rank_group[right]:
        return left
    first = st.rank_size[right] * st.rank_share[left] < st.rank_size[left] * st.rank_share[right]
    return right if first else left


@compilable
def rank_all(st: State) -> None:
    """Rank all entries."""
    tree = st.rank_tree
    for i in range(len(st.branch)):
        st.is_stale[i] = 0
        rank(st, i)
    for node in range(st.scalar[LEAVES] - 1, 0, -1):
        tree[node] = better(st, tree[2 * node], tree[2 * node + 1])


@compilable
def rank_stale(st: State) -> None:
    """Rank the entries that are stale."""
    tree = st.rank_tree
    for k in range(st.scalar[STALE]):
        rank(st, st.stale[k])
    for k in range(st.scalar[STALE]):
        i = st.stale[k]
        st.is_stale[i] = 0
        node = (st.scalar[LEAVES] + i) // 2
        while node > 0:
            before = tree[node]
            tree[node] = better(st, tree[2 * node], tree[2 * node + 1])
            if before != i and tree[node] == before:
                break  # further up nothing depends on this entry
            node //= 2


@compilable
def select_ranked(st: State) -> int:
    """The same as `select_variable`, in time logarithmic in the number of entries for each stale one.

    What has been restored is stale already. All other changes since the last selection were at this level.
    """
    level = st.scalar[LEVEL]
    mark_trailed(st, st.level_trail[level - 1] if level > 0 else 0)
    count = st.scalar[STALE]
    if count < 0 or STALE_SHARE * count > len(st.branch):
        rank_all(st)
    else:
        rank_stale(st)
    st.scalar[STALE] = 0
    return st.rank_tree[1]
