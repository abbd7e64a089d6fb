"""The names that `dir` and completion offer for an object: those that users call and read."""


def public_names(self: object) -> list[str]:
    """The names of an object that are for users; stands as `__dir__` of its class.

    A class lists the names that are not in `_internal`; or those that are in `_offered`, where its subclasses
    have many fields of their own.
    """
    offered, internal = _listed(self, "_offered"), _listed(self, "_internal")
    return [
        name
        for name in object.__dir__(self)
        if name not in internal and (name.startswith("_") or not offered or name in offered)
    ]


def _listed(instance: object, what: str) -> set[str]:
    """The names that the classes of an object list under a name."""
    return {name for cls in type(instance).__mro__ for name in vars(cls).get(what, ())}
