"""Facts of a kernel from its cubin, which is an ELF file: instructions, registers, the stack."""

from __future__ import annotations

import struct

INSTRUCTION = 16  # bytes, since compute capability 7.0
_HEADER = struct.Struct("<40xQ10xHHH")  # offset of the section headers; size, number, section of the names
_SECTION = struct.Struct("<I20xQQ")  # of each: place of its name, offset, size
_ENTRY = struct.Struct("<BBH")  # of the section of facts: a form, a kind, and a size or a value
_VALUE = struct.Struct("<II")  # a kernel's number and a value
_SIZED = 4  # the form whose third field is a size
_REGISTERS, _FRAME = 0x2F, 0x11  # kinds
MAGIC = b"\x7fELF\x02\x01"  # 64 bits, least byte first


def instructions(cubin: bytes, kernel: str) -> int:
    """Instructions of a kernel's code, loops counted once; 0 if the file does not say."""
    return len(section(cubin, b".text." + kernel.encode())) // INSTRUCTION


def registers_and_frame(cubin: bytes) -> tuple[int, int]:
    """The registers of a thread and the bytes of its stack, the most of a file's kernels; 0 if it has none.

    A kernel that spills registers has a stack.
    """
    told, place = section(cubin, b".nv.info"), 0
    found = {_REGISTERS: 0, _FRAME: 0}
    while place + _ENTRY.size <= len(told):
        form, kind, size = _ENTRY.unpack_from(told, place)
        place += _ENTRY.size
        if form != _SIZED:
            continue
        if kind in found and size >= _VALUE.size and place + _VALUE.size <= len(told):
            _, value = _VALUE.unpack_from(told, place)
            found[kind] = max(found[kind], value)
        place += size
    return found[_REGISTERS], found[_FRAME]


def section(cubin: bytes, wanted: bytes) -> bytes:
    """The content of a section; nothing if the file has none of this name."""
    if not cubin.startswith(MAGIC):
        return b""
    try:
        start, size, count, named = _HEADER.unpack_from(cubin)
        sections = [_SECTION.unpack_from(cubin, start + number * size) for number in range(count)]
        _, names, length = sections[named]
        texts = cubin[names : names + length]
        for place, offset, taken in sections:
            if texts[place : texts.find(b"\0", place)] == wanted:
                return cubin[offset : offset + taken]
    except (struct.error, IndexError):
        return b""
    return b""
