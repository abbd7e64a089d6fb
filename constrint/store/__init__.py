"""The engine's state arrays, the domains in them with their trail, and the base class of propagators."""
