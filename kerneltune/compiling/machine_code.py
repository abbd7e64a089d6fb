"""The number of instructions of a kernel, from the section headers of its cubin, which is an ELF file."""

from __future__ import annotations

import struct

INSTRUCTION = 16  # bytes, since compute capability 7.0
_HEADER = struct.Struct("<40xQ10xHHH")  # offset of the section headers; size, number, section of the names
_SECTION = struct.Struct("<I20xQQ")  # of each: place of its name, offset, size
MAGIC = b"\x7fELF\x02\x01"  # 64 bits, least byte first


def instructions(cubin: bytes, kernel: str) -> int:
    """Instructions of a kernel's code, loops counted once; 0 if the file does not say."""
    if not cubin.startswith(MAGIC):
        return 0
    try:
        start, size, count, named = _HEADER.unpack_from(cubin)
        sections = [_SECTION.unpack_from(cubin, start + number * size) for number in range(count)]
        _, names, length = sections[named]
        texts = cubin[names : names + length]
        for place, _, taken in sections:
            if texts[place : texts.find(b"\0", place)] == b".text." + kernel.encode():
                return int(taken) // INSTRUCTION
    except (struct.error, IndexError):
        return 0
    return 0
