"""On a GPU: recorded calls give the bits of calls that are not."""

from __future__ import annotations

import random
from typing import Any

import pytest
from drawn_calls import Sequence, two_alike, wrong_in_threads

torch: Any = pytest.importorskip("torch")
pytestmark = pytest.mark.gpu


class Switched:
    """CUDA graphs that can be switched off, and that count."""

    def __init__(self) -> None:
        from kerneltune.torch.recording import CudaGraphs

        self._graphs, self.where, self.replays, self.allowed = CudaGraphs(), "here", 0, True
        self.take, self.pool = self._graphs.take, self._graphs.pool

    def place(self, data: Any) -> Any:
        return None if self.where is None else self._graphs.place(data)

    def may(self) -> bool:
        return self.allowed  # threads that other tests left do nothing

    def record(self, pool: Any, work: Any) -> Any:
        replay, result = self._graphs.record(pool, work)

        def counted() -> None:
            self.replays += 1
            replay()

        return counted, result


@pytest.fixture
def switched(monkeypatch: pytest.MonkeyPatch) -> Switched:
    if not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    from kerneltune.torch import replay

    made = Switched()
    monkeypatch.setattr(replay, "graphs", lambda: made)
    torch.manual_seed(0)
    return made


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("seed", range(6))
def test_drawn_calls_give_the_same_bits_on_a_gpu(seed: int, dtype: str, switched: Switched) -> None:
    sequence = Sequence(random.Random(seed), switched, device="cuda", dtype=getattr(torch, dtype))
    with torch.cuda.stream(torch.cuda.Stream() if seed % 2 else torch.cuda.current_stream()):
        sequence.run()
    torch.cuda.synchronize()
    assert switched.replays > 5


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_threads_on_one_stream_on_a_gpu(switched: Switched) -> None:
    layer, without = two_alike("LSTM", {}, switched, device="cuda", dtype=torch.float16)
    inputs = [torch.randn(64, 3, 5, device="cuda", dtype=torch.float16) for _ in range(4)]
    with torch.no_grad():
        expected = [without(x)[0] for x in inputs]
        for x in inputs:
            layer(x)
    switched.allowed = False
    modes = torch.no_grad, torch.inference_mode
    assert not wrong_in_threads(layer, inputs, expected, 100, modes)
    assert switched.replays > 50
