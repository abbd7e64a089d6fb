"""ConstrINT: a general integer constraint solver."""
