"""Fixtures for the tests of kernels: the emulated GPU."""

from __future__ import annotations

from pathlib import Path

import pytest
from emulator.build import Emulator

from kerneltune.inputs.descriptions import Kernels, discover


@pytest.fixture(scope="session")
def kernels() -> Kernels:
    return discover()


@pytest.fixture(scope="session")
def emulator(kernels: Kernels, tmp_path_factory: pytest.TempPathFactory) -> Emulator:
    return Emulator(kernels.root, tmp_path_factory.mktemp("emulated"))


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Emulator:
    """For kernels that a test brings along."""
    folder = tmp_path_factory.mktemp("bench")
    return Emulator(Path(folder, "no_kernels"), folder / "made")
