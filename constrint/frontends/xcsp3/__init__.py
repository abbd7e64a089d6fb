"""XCSP3-core, the XML language of the XCSP competitions: `read_xcsp3`."""

from constrint.frontends.xcsp3.instance import read_xcsp3

__all__ = ["read_xcsp3"]
