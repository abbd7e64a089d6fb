"""The public names of `constrint`, which finds them here once one is asked for."""

from constrint.errors import ConstrintError as ConstrintError
from constrint.errors import EmptySpaceError as EmptySpaceError
from constrint.errors import InternalError as InternalError
from constrint.errors import LimitError as LimitError
from constrint.errors import ModelError as ModelError
from constrint.errors import ParseError as ParseError
from constrint.errors import Position as Position
from constrint.errors import UnboundedError as UnboundedError
from constrint.errors import Undefined as Undefined
from constrint.expr import BoolExpr as BoolExpr
from constrint.expr import BoolVar as BoolVar
from constrint.expr import IntExpr as IntExpr
from constrint.expr import IntVar as IntVar
from constrint.expr.arrays import ExprArray as ExprArray
from constrint.expr.arrays import array as array
from constrint.expr.domain import Domain as Domain
from constrint.expr.functions import *  # noqa: F403  # the registry has explicit names only
from constrint.globals.functions import *  # noqa: F403  # each family has explicit names only
from constrint.model import Model as Model
from constrint.model import read as read
from constrint.modelling.constraints import Constraint as Constraint
from constrint.modelling.constraints import Handle as Handle
from constrint.modelling.intervals import Interval as Interval
from constrint.modelling.intervals import Scheduled as Scheduled
from constrint.modelling.result import Result as Result
from constrint.modelling.result import Statistics as Statistics
from constrint.modelling.result import Status as Status
from constrint.modelling.scheduling import alternative as alternative
from constrint.modelling.scheduling import cumulative as cumulative
from constrint.modelling.scheduling import forbid_end as forbid_end
from constrint.modelling.scheduling import forbid_extent as forbid_extent
from constrint.modelling.scheduling import forbid_start as forbid_start
from constrint.modelling.scheduling import no_overlap as no_overlap
from constrint.modelling.scheduling import span as span
from constrint.modelling.scheduling import synchronize as synchronize
from constrint.preparing.branching import Brancher as Brancher
from constrint.preparing.branching import Group as Group
from constrint.preparing.callbacks import Decision as Decision
from constrint.preparing.callbacks import Domains as Domains
from constrint.preparing.restart_rules import Restarts as Restarts
from constrint.support.limits import LimitExceeded as LimitExceeded
from constrint.support.limits import Limits as Limits
