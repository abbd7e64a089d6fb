"""ConstrINT: a general integer constraint solver."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from constrint.public import *  # noqa: F403  # it has explicit names only

__version__: str

if not TYPE_CHECKING:  # an import of one module below takes no time for all others

    def __getattr__(name: str) -> object:
        """`__version__`, a module below, or what is public, imported once one is asked for."""
        from importlib import import_module
        from importlib.util import find_spec

        if name == "__version__":
            from constrint.support.version import version

            return version()
        if name != "__all__" and name.startswith("_"):
            raise AttributeError(f"module 'constrint' has no attribute {name!r}")
        if find_spec(f"constrint.{name}"):
            return import_module(f"constrint.{name}")
        names = vars(import_module("constrint"))  # `globals` is a module below
        names.update(_public())
        if name not in names:
            from constrint.support.other_names import unknown_name

            raise AttributeError(unknown_name(name, names["__all__"]))
        return names[name]

    def _public() -> dict[str, object]:
        """The public names."""
        from importlib import import_module
        from types import ModuleType

        every = vars(import_module("constrint.public"))
        found = {
            name: value
            for name, value in every.items()
            if not (name.startswith("_") or isinstance(value, ModuleType))
        }
        return {**found, "__all__": sorted(found)}

    def __dir__() -> list[str]:
        return [*_public()["__all__"], "__version__"]
