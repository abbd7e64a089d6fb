"""Calls replayed out of slots give what calls without give, whatever comes between them."""

from __future__ import annotations

import gc
import random
import threading
from typing import Any

import pytest
from reference_launcher import ReferenceLauncher
from rerunning import Rerunning

torch: Any = pytest.importorskip("torch")


@pytest.fixture
def recorder(kernels_on_cpu: ReferenceLauncher, monkeypatch: pytest.MonkeyPatch) -> Rerunning:
    """Work is recorded by a stand-in."""
    from kerneltune.torch import replay

    made = Rerunning()
    monkeypatch.setattr(replay, "graphs", lambda: made)
    return made


def states_of(result: Any) -> list[Any]:
    output, last = result
    return [output, *(last if isinstance(last, tuple) else (last,))]


def two_alike(kind: str, options: dict[str, Any], recorder: Any, **made: Any) -> tuple[Any, Any]:
    """A layer, and a function that calls its twin without recording."""
    import kerneltune.torch as ours

    layer, twin = (getattr(ours, kind)(5, 16, **options, **made) for _ in range(2))
    twin.load_state_dict(layer.state_dict())

    def without(*given: Any) -> Any:
        recorder.where = None
        try:
            return twin(*given)
        finally:
            recorder.where = "here"

    without.layer = twin  # type: ignore[attr-defined]
    return layer, without


class Sequence:
    """Drawn calls of a layer and its twin, side by side."""

    def __init__(self, draw: random.Random, recorder: Any, **made: Any) -> None:
        self.draw, self.made = draw, made
        kind = draw.choice(["LSTM", "GRU", "RNN", "sLSTM"])
        self.options = {"num_layers": draw.randint(1, 2), "bidirectional": draw.random() < 0.4}
        self.options |= {"bias": draw.random() < 0.8, "heads": draw.choice([1, 2])}
        self.options |= {"learned_initial": draw.random() < 0.2}
        self.layer, self.without = two_alike(kind, self.options, recorder, **made)
        self.open: list[tuple[list[Any], list[Any]]] = []
        self.kept: list[tuple[Any, Any]] = []

    def call(self) -> None:
        draw, (steps, rows) = self.draw, self.draw.choice([(4, 3), (2, 2)])
        x = torch.randn(steps, rows, 5, **self.made)
        start = None
        if draw.random() < 0.4:
            shape = (self.options["num_layers"] * (1 + self.options["bidirectional"]), rows, 16)
            parts = tuple(torch.randn(shape, **self.made) for _ in self.layer.kind.states)
            start = parts if len(parts) > 1 else parts[0]
        training, wants = draw.random() < 0.8, draw.random() < 0.5
        pair = []
        with torch.set_grad_enabled(training):
            for run in (self.layer, self.without):
                mine = x.clone().requires_grad_(wants)
                pair.append([*states_of(run(mine, start) if start is not None else run(mine)), mine])
        for found, expected in zip(pair[0][:-1], pair[1][:-1], strict=True):
            self.same(found, expected)
            self.kept.append((found, found.detach().clone()))
        if training:
            self.open.append((pair[0], pair[1]))

    def same(self, found: Any, expected: Any) -> None:
        if expected is None:
            assert found is None
            return
        assert found.shape == expected.shape
        assert found.dtype == expected.dtype
        assert torch.equal(found, expected)

    def backward(self) -> None:
        if not self.open:
            return
        pair = self.open.pop(self.draw.randrange(len(self.open)))
        count = len(pair[0]) - 1
        used = [k for k in range(count) if self.draw.random() < 0.6] or [self.draw.randrange(count)]
        factors = [torch.randn_like(pair[0][k]) for k in used]
        for again in [True, False] if self.draw.random() < 0.2 else [False]:
            for parts in pair:
                total = sum((parts[k] * by).sum() for k, by in zip(used, factors, strict=True))
                total.backward(retain_graph=again)
        for mine, other in zip(self.parameters(0), self.parameters(1), strict=True):
            self.same(mine.grad, other.grad)
        if pair[0][-1].requires_grad:
            self.same(pair[0][-1].grad, pair[1][-1].grad)

    def parameters(self, which: int) -> list[Any]:
        return list((self.layer, self.without.layer)[which].parameters())

    def step(self) -> None:
        """Change the weights as an optimiser does; what has not run backward by then cannot."""
        self.open.clear()
        with torch.no_grad():
            for mine, other in zip(self.parameters(0), self.parameters(1), strict=True):
                mine.mul_(0.99)
                other.mul_(0.99)
                if self.draw.random() < 0.3:
                    mine.data[0], other.data[0] = 0.01, 0.01
                mine.grad = other.grad = None

    def move(self) -> None:
        """New memory, as `.to` and `.half` have it."""
        self.open.clear()
        for mine in self.parameters(0):
            mine.data = mine.data.clone()

    def run(self) -> None:
        for _ in range(60):
            chance = self.draw.random()
            if chance < 0.55:
                self.call()
            elif chance < 0.85:
                self.backward()
            elif chance < 0.99:
                self.step()
            else:
                self.move()
        for found, was in self.kept:
            assert torch.equal(found, was)


@pytest.mark.parametrize("seed", range(12))
def test_drawn_calls_give_what_they_give_without(seed: int, recorder: Rerunning) -> None:
    Sequence(random.Random(seed), recorder).run()
    assert recorder.replays > 5


def trained(layer: Any, calls: int = 4) -> None:
    for _ in range(calls):
        layer(torch.randn(4, 3, 5))[0].sum().backward()


def test_weights_that_change_before_the_backward_pass_are_torchs_error(recorder: Rerunning) -> None:
    import kerneltune.torch as ours

    layer = ours.LSTM(5, 16)
    trained(layer)
    before, output = recorder.replays, layer(torch.randn(4, 3, 5))[0]
    assert recorder.replays == before + 1
    with torch.no_grad():
        layer.weight_hh_l0.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        output.sum().backward()


def test_a_second_backward_pass_is_torchs_error(recorder: Rerunning) -> None:
    import kerneltune.torch as ours

    layer = ours.GRU(5, 16)
    trained(layer)
    output = layer(torch.randn(4, 3, 5))[0].sum()
    output.backward()
    with pytest.raises(RuntimeError, match="second time"):
        output.backward()


def test_a_slot_that_nobody_can_ask_for_is_used_again(recorder: Rerunning) -> None:
    import kerneltune.torch as ours

    layer = ours.LSTM(5, 16)
    for _ in range(10):
        layer(torch.randn(4, 3, 5))  # its backward pass never comes
    assert recorder.records == 1
    held = [layer(torch.randn(4, 3, 5)) for _ in range(6)]
    assert recorder.records == 3
    del held
    replays = recorder.replays
    layer(torch.randn(4, 3, 5))
    assert (recorder.records, recorder.replays) == (3, replays + 1)


def test_slots_go_with_their_stack(recorder: Rerunning) -> None:
    import kerneltune.torch as ours

    layer = ours.LSTM(5, 16)
    trained(layer)
    assert recorder.taken > 0
    del layer
    gc.collect()
    assert recorder.taken == 0


def test_without_room_calls_run_without(recorder: Rerunning) -> None:
    import kerneltune.torch as ours

    recorder.room = 10
    trained(ours.LSTM(5, 16))
    assert recorder.records == 0


def test_a_recording_that_fails_is_said_and_leaves_the_call_as_it_was(recorder: Rerunning) -> None:
    layer, without = two_alike("GRU", {}, recorder)
    recorder.fails = True
    x = torch.randn(4, 3, 5)
    with torch.no_grad():
        for call in range(5):
            if call == 2:
                with pytest.warns(RuntimeWarning, match="KERNELTUNE_GRAPHS=0"):
                    found = layer(x)
            else:
                found = layer(x)
            assert torch.equal(found[0], without(x)[0])
    assert recorder.taken == 0


def test_threads_do_not_share_a_slot(recorder: Rerunning) -> None:
    layer, without = two_alike("LSTM", {}, recorder)
    inputs = [torch.randn(4, 3, 5) for _ in range(3)]
    with torch.no_grad():
        expected = [without(x)[0] for x in inputs]
    wrong: list[int] = []

    def ask(which: int) -> None:
        with torch.no_grad():
            for _ in range(40):
                if not torch.equal(layer(inputs[which])[0], expected[which]):
                    wrong.append(which)

    threads = [threading.Thread(target=ask, args=(which,)) for which in range(3)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not wrong
    assert recorder.replays > 0


def test_nothing_is_recorded_beside_threads_that_may_use_the_gpu(
    recorder: Rerunning, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kerneltune.torch import recording

    monkeypatch.delenv(recording.SWITCH, raising=False)
    assert recording.CudaGraphs().may()
    end = threading.Event()

    class Quiet(threading.Thread):
        __module__ = "tqdm._monitor"

        def run(self) -> None:
            end.wait()

    made = [Quiet(), threading.Thread(target=end.wait)]
    for one, allowed in zip(made, (True, False), strict=True):
        one.start()
        assert recording.CudaGraphs().may() == allowed
    monkeypatch.setenv(recording.SWITCH, "1")
    assert recording.CudaGraphs().may()
    end.set()


def test_recording_waits_until_it_may(recorder: Rerunning) -> None:
    import kerneltune.torch as ours

    layer = ours.LSTM(5, 16)
    recorder.allowed = False
    trained(layer)
    assert recorder.records == 0
    recorder.allowed = True
    trained(layer)
    assert recorder.replays > 0


def test_layers_side_by_side_are_replayed_too(
    recorder: Rerunning, kernels_on_cpu: ReferenceLauncher, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kerneltune.torch import fused

    monkeypatch.setattr(fused, "chunk_for", lambda *_: 2)
    layer, without = two_alike("LSTM", {"num_layers": 2}, recorder)
    for _ in range(5):
        x, start = torch.randn(8, 3, 5), (torch.randn(2, 3, 16), torch.randn(2, 3, 16))
        for run in (layer, without):
            output, last = run(x, start)
            (output.pow(2).sum() + last[1].sum()).backward()
    assert recorder.replays > 0
    for mine, other in zip(layer.parameters(), without.layer.parameters(), strict=True):
        assert torch.equal(mine.grad, other.grad)


def test_new_shapes_do_not_pile_up(recorder: Rerunning) -> None:
    import kerneltune.torch as ours
    from kerneltune.torch import replay

    layer = ours.RNN(5, 16)
    with torch.no_grad():
        for steps in range(1, replay.MOST_KINDS + 8):
            for _ in range(4):
                layer(torch.randn(steps, 1, 5))
    assert recorder.records == replay.MOST_KINDS


def test_autocast_replays_and_gives_gradients_of_the_weights_own_type(recorder: Rerunning) -> None:
    layer, without = two_alike("LSTM", {}, recorder)
    for _ in range(5):
        x = torch.randn(4, 3, 5)
        for run in (layer, without):
            with torch.autocast("cpu", torch.bfloat16):
                run(x)[0].float().sum().backward()
    assert recorder.replays > 0
    for mine, other in zip(layer.parameters(), without.layer.parameters(), strict=True):
        assert mine.grad.dtype == torch.float32
        assert torch.equal(mine.grad, other.grad)


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


@pytest.mark.gpu
@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("seed", range(6))
def test_drawn_calls_give_the_same_bits_on_a_gpu(seed: int, dtype: str, switched: Switched) -> None:
    sequence = Sequence(random.Random(seed), switched, device="cuda", dtype=getattr(torch, dtype))
    with torch.cuda.stream(torch.cuda.Stream() if seed % 2 else torch.cuda.current_stream()):
        sequence.run()
    torch.cuda.synchronize()
    assert switched.replays > 5


@pytest.mark.gpu
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_threads_on_one_stream_on_a_gpu(switched: Switched) -> None:
    layer, without = two_alike("LSTM", {}, switched, device="cuda", dtype=torch.float16)
    inputs = [torch.randn(64, 3, 5, device="cuda", dtype=torch.float16) for _ in range(4)]
    with torch.no_grad():
        expected = [without(x)[0] for x in inputs]
        for x in inputs:
            layer(x)
    switched.allowed = False
    wrong: list[int] = []

    def ask(which: int) -> None:
        for call in range(100):
            with torch.inference_mode() if call % 2 else torch.no_grad():
                if not torch.equal(layer(inputs[which])[0], expected[which]):
                    wrong.append(which)

    threads = [threading.Thread(target=ask, args=(which,)) for which in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not wrong
    assert switched.replays > 50
