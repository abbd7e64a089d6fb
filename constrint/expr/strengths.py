"""How tightly the operators of the text language bind, from loose to tight: one scale for all writers."""

IFF, IMPLIES, OR, AND, NOT, COMPARE, SUM, PRODUCT, SIGN, POWER, ATOM = range(11)
