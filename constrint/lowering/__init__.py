"""From expressions to the normal form that propagators take."""
