"""The text language's form of what other languages write, by the character, word or function that is read."""

from __future__ import annotations

_STRING = "there are no strings; an unusual name is written in backquotes: `x[0]`"
CHARACTERS = {
    "&": "write 'and', or of the bits of numbers bit_and(a, b)",
    "|": "write 'or', or of the bits of numbers bit_or(a, b); of divisors 'divides'; a size is abs(x)",
    "~": "write 'not', or of the bits of a number -x - 1",
    "!": "write 'not', or != for 'differs from'",
    "^": "a power is written **, one or the other of the bits of numbers bit_xor(a, b)",
    ".": "a decimal begins with a digit, 0.5; a range is written 1..8",
    "=": "an equation is written ==, a definition name := expression",
    '"': _STRING,
    "'": _STRING,
    "`": "a quoted name begins and ends with a backquote on the same line: `x[0]`",
    "\\": "a backslash joins two lines only as the last character of a line",
    "?": "write 'cond -> a == 1' and 'not cond -> a == 2' as two constraints",
}
"""By a character that the language does not have, or not there."""

PAIRS = {
    "=>": "implication is written ->, 'at least' is written >=",
    "/\\": "both of two conditions are written 'a and b'",
    "\\/": "one of two conditions is written 'a or b'",
    "<<": "a shift to the left is a product with a power: x * 2 ** n",
    ">>": "a shift to the right is a quotient by a power: x // 2 ** n",
    "<>": "'differs from' is written !=",
}
"""By two characters, the second of which cannot stand there, or the first of which stands before it."""

FIRST_WORDS = {
    "enum": "an enumeration lists its members in braces: enum colour := {red, green}",
    "var": "if this is MiniZinc: a variable is declared x in 0..9 here",
    "array": "if this is MiniZinc: an array is declared x[1..3] in 0..9, or name[1..3] := [1, 2, 3]",
    "set": "if this is MiniZinc: a set is named, items := 1..9",
    "int": "if this is MiniZinc: a constant is written n := 5, a parameter param n",
    "float": "if this is MiniZinc: a constant is written w := 2.5",
    "bool": "if this is MiniZinc: a variable that is true or false is declared 'b bool'",
    "constraint": "if this is MiniZinc: a constraint stands by itself here, x >= 3",
    "solve": "if this is MiniZinc: write minimize x, or maximize x, alone",
    "forall": "a loop is written forall(x[i] >= i for i in 1..9)",
    "exists": "a loop is written exists(x[i] >= i for i in 1..9)",
    "predicate": "a named condition is written name(x) := x > 3",
    "function": "a named expression is written name(x) := x + 3",
    "let": "a part is named in a statement of its own: y := x + 3",
    "if": "write 'cond -> a == 1' and 'not cond -> a == 2', or if_then_else(cond, a, b) of numbers",
    "%": "a comment begins with #",
    "output": "if this is MiniZinc: all variables are shown; there is no output item",
    "include": "if this is MiniZinc: constraints are there without an include item",
}
"""By the word that begins a statement which cannot be read."""

WORDS = {
    "div": "a quotient is written x // 2, which rounds down; truncdiv(x, 2) rounds to 0",
    "mod": "a remainder is written x % 2, which is never negative for 2; truncmod(x, 2) has the sign of x",
    "xor": "one of two conditions alone is written (a) != (b), of the bits of numbers bit_xor(a, b)",
    "union": "a set lists its parts: {1, 3..5}",
    "intersect": "write two constraints: x in {1, 3..5}; x in 2..9",
    "diff": "write two constraints: x in 1..9; not (x in {3, 5})",
    "where": "a loop's condition is written for i in 1..9 if i != 3; others are constraints of their own",
}
"""By a word that stands where an operator is missing."""

FUNCTIONS = {
    "bool2int": "a condition is 0 or 1 in sums: (x >= 3) + y == 4",
    "int2bool": "a number is compared: b != 0",
    "pow": "a power is written x ** 2",
    "div": "a quotient is written x // 2, which rounds down",
    "mod": "a remainder is written x % 2",
    "xor": "one of two conditions alone is written (a) != (b), of the bits of numbers bit_xor(a, b)",
    "element": "an element of a list is written [3, 5, 7][k], or name[k]",
    "at_most": "a count is compared: count(xs, 3) <= 2",
    "atmost": "a count is compared: count(xs, 3) <= 2",
    "at_least": "a count is compared: count(xs, 3) >= 2",
    "atleast": "a count is compared: count(xs, 3) >= 2",
    "exactly": "a count is compared: count(xs, 3) == 2",
    "card": "the number of entries is written len(items)",
    "length": "the number of entries is written len(items)",
    "implies": "implication is written a -> b",
    "iff": "equivalence is written a <-> b",
}
"""By the name of a function that does not exist."""
