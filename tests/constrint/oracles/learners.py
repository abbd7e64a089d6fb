"""A small learning search whose clauses can be inspected."""

from __future__ import annotations

from constrint import Model
from constrint.engine.state_arrays import Branch
from constrint.engine.state_arrays import build as build_state
from constrint.learning.layout import Learner
from constrint.learning.learner_arrays import Guide
from constrint.learning.learner_arrays import build as build_learner
from constrint.learning.normal import LearningNormalForm
from constrint.preparing.prepared import Prepared
from constrint.store.state import State


def learner(values_of_x: tuple[int, ...] | range) -> tuple[Learner, State]:
    """A learner of one variable, x, and its engine state."""
    m = Model()
    m.int_var("x", values=values_of_x)
    root = Prepared(m, (), ()).root
    assert root is not None
    n = len(root.box.lo)
    ls = build_learner(LearningNormalForm(), [], root.box, Guide([1] * n, [0] * n, root.box.lo, [0] * n))
    return ls, build_state(root.box, [], Branch(), root.huge)
