"""XLA's foreign function interface through ctypes: a handler's arguments, and the calls it may make.

The structs are those of ``xla/ffi/api/c_api.h``, major version 0. Two ways were sketched: a handler in C,
which somebody must compile for each platform, and this one, which needs no compiler and costs some
microseconds of the host a call.
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, Structure, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_void_p
from typing import Any

MAJOR, MINOR = 0, 1  # the interface that these structs are of
EXECUTE = 3  # of XLA_FFI_ExecutionStage
METADATA = 1  # of XLA_FFI_InternalExtension_Type
STRING = 4  # of XLA_FFI_AttrType
INTERNAL = 13  # of XLA_FFI_Error_Code


class _Extension(Structure):
    pass


_Extension._fields_ = [("struct_size", c_size_t), ("type", c_int), ("next", POINTER(_Extension))]


def _extended(*fields: tuple[str, object]) -> list[tuple[str, Any]]:
    return [("struct_size", c_size_t), ("extension", POINTER(_Extension)), *fields]


class _Version(Structure):
    _fields_ = _extended(("major", c_int), ("minor", c_int))


class _Metadata(Structure):
    _fields_ = (("struct_size", c_size_t), ("version", _Version), ("traits", c_uint32))


class _MetadataExtension(Structure):
    _fields_ = (("base", _Extension), ("metadata", POINTER(_Metadata)))


class _Api(Structure):
    """The functions of XLA up to ``Stream_Get``, the last that is used here."""

    _fields_ = _extended(
        ("version", _Version),
        ("internal", c_void_p),
        *((name, c_void_p) for name in ("error_create", "error_details", "error_destroy", "register")),
        ("stream_get", c_void_p),
    )


class _Buffer(Structure):
    _fields_ = _extended(("dtype", c_int), ("data", c_void_p), ("rank", c_int64), ("dims", POINTER(c_int64)))


class _Buffers(Structure):
    _fields_ = _extended(("size", c_int64), ("types", POINTER(c_int)), ("items", POINTER(POINTER(_Buffer))))


class _Span(Structure):
    _fields_ = (("start", c_void_p), ("length", c_size_t))


class _Attributes(Structure):
    _fields_ = _extended(
        ("size", c_int64),
        ("types", POINTER(c_int)),
        ("names", POINTER(POINTER(_Span))),
        ("items", POINTER(POINTER(_Span))),
    )


class CallFrame(Structure):
    """``XLA_FFI_CallFrame``: one call of a handler."""

    _fields_ = _extended(
        ("api", POINTER(_Api)),
        ("context", c_void_p),
        ("stage", c_int),
        ("arguments", _Buffers),
        ("results", _Buffers),
        ("attributes", _Attributes),
        ("future", c_void_p),
    )


class _StreamArguments(Structure):
    _fields_ = _extended(("context", c_void_p), ("stream", c_void_p))


class _ErrorArguments(Structure):
    _fields_ = _extended(("message", c_char_p), ("code", c_int))


Handler = ctypes.CFUNCTYPE(c_void_p, POINTER(CallFrame))
_Asked = ctypes.CFUNCTYPE(c_void_p, c_void_p)


def answers_metadata(frame: CallFrame) -> bool:
    """Whether XLA only asked for the handler's version, which is then answered."""
    extension = frame.extension
    if not extension or extension.contents.type != METADATA:
        return False
    asked = ctypes.cast(extension, POINTER(_MetadataExtension)).contents.metadata.contents
    version = frame.api.contents.version if frame.api else None
    asked.version.major = MAJOR
    asked.version.minor = version.minor if version is not None and version.major == MAJOR else MINOR
    asked.traits = 0
    return True


def addresses(buffers: _Buffers) -> list[int]:
    """The addresses of arguments or results; 0 for those without elements."""
    return [buffers.items[i].contents.data or 0 for i in range(buffers.size)]


def text_attribute(frame: CallFrame) -> str:
    """The one attribute of a call, a text."""
    if frame.attributes.size != 1 or frame.attributes.types[0] != STRING:
        raise ValueError("a call of kerneltune has one attribute, a text")
    span = frame.attributes.items[0].contents
    return ctypes.string_at(span.start, span.length).decode()


def stream_of(frame: CallFrame) -> int:
    """The handle of the stream that a call belongs to."""
    asked = _StreamArguments(ctypes.sizeof(_StreamArguments), None, frame.context, None)
    if _Asked(frame.api.contents.stream_get)(ctypes.addressof(asked)):
        raise ValueError("XLA has no stream for this call")
    return asked.stream or 0


def error(frame: CallFrame, message: str) -> int | None:
    """An error that a handler may return; XLA destroys it."""
    made = _ErrorArguments(ctypes.sizeof(_ErrorArguments), None, message.encode(), INTERNAL)
    found: int | None = _Asked(frame.api.contents.error_create)(ctypes.addressof(made))
    return found
