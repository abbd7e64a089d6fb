"""The public functions that build expressions; importing an arithmetic function here registers it.

Each module of `arithmetic` has a class, which is the definition, and its public function. The text language,
JSON, sympy, the lowering and the planner use the registry `constrint.expr.FUNCTIONS`.
"""

from constrint.expr.arithmetic.absolute import abs_ as abs_
from constrint.expr.arithmetic.bits import bit_and as bit_and
from constrint.expr.arithmetic.bits import bit_or as bit_or
from constrint.expr.arithmetic.bits import bit_xor as bit_xor
from constrint.expr.arithmetic.choices import element as element
from constrint.expr.arithmetic.choices import if_then_else as if_then_else
from constrint.expr.arithmetic.division import ceildiv as ceildiv
from constrint.expr.arithmetic.divisors import gcd_ as gcd_
from constrint.expr.arithmetic.divisors import lcm_ as lcm_
from constrint.expr.arithmetic.extremes import max_ as max_
from constrint.expr.arithmetic.extremes import min_ as min_
from constrint.expr.arithmetic.isqrt import isqrt as isqrt
from constrint.expr.arithmetic.truncation import truncdiv as truncdiv
from constrint.expr.arithmetic.truncation import truncmod as truncmod
from constrint.expr.builders import all_of as all_of
from constrint.expr.builders import any_of as any_of
from constrint.expr.builders import divides as divides
from constrint.expr.builders import iff as iff
from constrint.expr.builders import implies as implies
from constrint.expr.builders import member as member
from constrint.expr.builders import sum_ as sum_
