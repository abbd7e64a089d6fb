"""The public functions of the global constraints: what each family names in its `__all__`."""
# ruff: noqa: F403 - each family has explicit names only

from constrint.globals.arcs import *
from constrint.globals.automata import *
from constrint.globals.costs import *
from constrint.globals.counting import *
from constrint.globals.different import *
from constrint.globals.optional_tasks import *
from constrint.globals.order import *
from constrint.globals.packing import *
from constrint.globals.permutations import *
from constrint.globals.scheduling import *
from constrint.globals.tables import *
from constrint.globals.truths import *
