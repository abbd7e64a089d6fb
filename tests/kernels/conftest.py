"""Fixtures for the tests of kernels: the emulated GPU."""

from __future__ import annotations

import os

import pytest
from emulator.build import Emulator

from kerneltune.inputs.descriptions import Kernels, discover


@pytest.fixture(scope="session")
def kernels() -> Kernels:
    return discover()


@pytest.fixture(scope="session")
def emulator(kernels: Kernels, tmp_path_factory: pytest.TempPathFactory) -> Emulator:
    base = tmp_path_factory.getbasetemp()
    return Emulator(kernels.root, (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "emulated")


@pytest.fixture(scope="session")
def bench(emulator: Emulator, tmp_path_factory: pytest.TempPathFactory) -> Emulator:
    """For kernels that a test brings along."""
    return Emulator(tmp_path_factory.mktemp("no_kernels"), emulator.folder)
