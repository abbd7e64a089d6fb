"""The compiling stage: the first order has a process of full priority, each process one order at a time."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from kerneltune.messages import Built, Failed, Order
from kerneltune.pipeline.stages import COMPILE_CHILD, NICENESS, Compilers
from kerneltune.running.children import FUNCTION_VARIABLE, KIND_VARIABLE, Child

CHILD = """
import os, sys, time
from kerneltune.messages import Built, Order, required
from kerneltune.running.child_output import private_stdout, say
answers = private_stdout()
for line in sys.stdin:
    time.sleep(required(line, Order).configuration["seconds"])
    say(answers, Built(registers=os.getpriority(os.PRIO_PROCESS, 0), instructions=os.getpid()))
"""
COMMAND = (sys.executable, "-c", CHILD)


def order(seconds: float) -> Order:
    return Order(kind="cuda", configuration={"seconds": seconds})


def built(found: Built | Failed) -> Built:
    assert isinstance(found, Built), found
    return found


@pytest.mark.skipif(os.name != "posix", reason="priorities are those of Unix")
@pytest.mark.parametrize("is_warm", [True, False])
def test_the_first_order_goes_to_the_process_of_full_priority(is_warm: bool) -> None:
    own = os.getpriority(os.PRIO_PROCESS, 0)
    with closing(Compilers(3, COMMAND)) as compilers:
        if is_warm:
            compilers.warm_up()
        first = compilers.submit(order(0.3))
        others = [compilers.submit(order(0.3)) for _ in range(2)]
        found = [built(one.result()) for one in (first, *others)]
        lower = min(own + NICENESS, 19)
        assert [one.registers for one in found] == [own, lower, lower]
        assert len({one.instructions for one in found}) == 3
        again = built(compilers.submit(order(0)).result())
        assert again.instructions == found[0].instructions


def test_the_file_of_a_function_is_imported_before_the_first_order(tmp_path: Path) -> None:
    source, marker = tmp_path / "mine.py", tmp_path / "imported"
    source.write_text(f"open({str(marker)!r}, 'w').close()\ndef function(): pass\n")
    told = {KIND_VARIABLE: "triton", FUNCTION_VARIABLE: json.dumps([f"{source}:function", *sys.path])}
    child = Child(COMPILE_CHILD, environment=told)
    with closing_child(child):
        child.begin()
        until = time.monotonic() + 60
        while not marker.exists() and time.monotonic() < until:
            time.sleep(0.01)
        assert marker.exists()
    broken = Child(COMPILE_CHILD, environment={**told, FUNCTION_VARIABLE: "no JSON"})
    with closing_child(broken):  # what is wrong is told by the first order
        wrong = Order(kind="triton", configuration={}, source=f"{source}:absent", path=tuple(sys.path))
        answer = broken.ask(wrong, Built, 60.0)
        assert isinstance(answer, Failed)
        assert "there is no 'absent'" in answer.failure


@contextmanager
def closing_child(child: Child) -> Iterator[None]:
    try:
        yield
    finally:
        child.end()


def test_more_orders_than_processes_wait() -> None:
    with closing(Compilers(2, COMMAND)) as compilers:
        compilers.warm_up()
        found = [compilers.submit(order(0.01)) for _ in range(8)]
        assert len({built(one.result()).instructions for one in found}) <= 2


def test_a_process_that_dies_is_replaced() -> None:
    dying = (sys.executable, "-c", f"import os\nif os.getpid() % 2 < 2: os._exit(3)\n{CHILD}")
    with closing(Compilers(2, dying)) as compilers:
        compilers.warm_up()
        found = [compilers.submit(order(0)).result() for _ in range(3)]
        assert all(isinstance(one, Failed) and "the compiler failed" in one.failure for one in found)
