"""Rewrites CUDA sources as C++ for the emulator's headers: inline PTX becomes calls, little else changes.

``asm volatile("ldmatrix… [%4];" : "=r"(a) : "r"(b))`` becomes
``emulator::Instruction<"ldmatrix…[%4];">::run(a, b)``, so the emulator executes the same text that the
assembler would get. The source is preprocessed first, so macros may contain such statements. Line numbers are
kept.
"""

from __future__ import annotations

import re

SHARED = re.compile(r"extern\s+__shared__\s+(?:__align__\(\d+\)\s+)?(\w[\w ]*?)\s+(\w+)\[\]\s*;")
ASM = re.compile(r"\basm\b\s*(?:volatile\b)?\s*\(")
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
ESCAPES = {r"\n": "\n", r"\t": "\t", r"\"": '"', r"\\": "\\"}


def rewrite(text: str) -> str:
    """A preprocessed source."""
    text = SHARED.sub(r"\1* const \2 = static_cast<\1*>(emulator::dynamic_shared_memory());", text)
    parts, position = [], 0
    while found := ASM.search(text, position):
        end = _closing(text, found.end() - 1)
        statement = text[found.start() : end + 1]
        parts += [
            text[position : found.start()],
            _call(text[found.end() : end]),
            "\n" * statement.count("\n"),
        ]
        position = end + 1
    return "".join([*parts, text[position:]])


def _call(inside: str) -> str:
    sections = _sections(inside)
    template = "".join(found.group(1) for found in LITERAL.finditer(sections[0]))
    operands = [operand for section in sections[1:3] for operand in _operands(section)]
    return f'emulator::Instruction<"{_normalised(template)}">::run({", ".join(operands)})'


def _normalised(template: str) -> str:
    template = re.sub(r"\\.", lambda found: ESCAPES[found.group()], template).replace("%%", "%")
    return re.sub(r"\s*,\s*", ",", re.sub(r"\s+", " ", template)).strip()


def _sections(inside: str) -> list[str]:
    """Template, outputs, inputs, clobbers: what colons outside brackets and strings divide."""
    sections, position, start = [], 0, 0
    while position < len(inside):
        if inside[position] == '"':
            position = _end_of_string(inside, position)
        elif inside[position] == "(":
            position = _closing(inside, position)
        elif inside[position] == ":":
            sections.append(inside[start:position])
            start = position + 1
        position += 1
    return [*sections, inside[start:]]


def _operands(section: str) -> list[str]:
    operands, position = [], 0
    while found := LITERAL.search(section, position):
        opening = section.index("(", found.end())
        end = _closing(section, opening)
        operands.append(section[opening + 1 : end])
        position = end + 1
    return operands


def _closing(text: str, opening: int) -> int:
    """Where the bracket at ``opening`` closes."""
    depth, position = 0, opening
    while True:
        if text[position] == '"':
            position = _end_of_string(text, position)
        elif text[position] in "([{":
            depth += 1
        elif text[position] in ")]}":
            depth -= 1
            if not depth:
                return position
        position += 1


def _end_of_string(text: str, opening: int) -> int:
    position = opening + 1
    while text[position] != '"':
        position += 2 if text[position] == "\\" else 1
    return position
