"""Compilation: a compilable function and all that it calls, as the object file that `native` loads.

`translation` writes them as the text of LLVM's intermediate language. LLVM, as part of llvmlite, optimises it
and makes machine code for this processor.
"""

from __future__ import annotations

from collections.abc import Callable

import llvmlite.binding as llvm

from constrint.engine import dfs, native
from constrint.engine.translation import TranslationUnit

SPEED = 2  # LLVM's level of optimisation; 3 takes a tenth longer and gives the same


def code_of(entry: Callable[..., object], part: str, checked: bool = False) -> bytes:
    """The machine code of a function and of those that it calls.

    Args:
        entry: The function that is called from outside.
        part: The part that it is compiled for, which becomes its name.
        checked: Whether an index outside its array ends the process.
    """
    symbol = f"constrint_{part.replace('-', '_')}"
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    triple = llvm.get_process_triple()
    target = llvm.Target.from_triple(triple)
    machine = target.create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=SPEED,
        reloc="static" if target.name.startswith("x86") else "default",  # what LLVM's linker in memory wants
        codemodel="jitdefault",
        jit=True,
    )
    module = llvm.parse_assembly(TranslationUnit(entry, symbol, checked).text)
    module.triple = triple
    module.data_layout = str(machine.target_data)
    module.verify()
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=SPEED))
    builder.getModulePassManager().run(module, builder)
    externals = [f.name for f in module.functions if f.is_declaration and not f.name.startswith("llvm.")]
    arguments = len(list(module.get_function(symbol).arguments))
    return native.packed(symbol, arguments, externals, machine.emit_object(module))


def engine_code() -> bytes:
    """The machine code of the search engine."""
    return code_of(dfs.run, "engine")
