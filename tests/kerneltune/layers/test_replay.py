"""Calls replayed out of slots give what calls without give, whatever comes between them."""

from __future__ import annotations

import gc
import random
import threading
from collections.abc import Callable
from typing import Any

import pytest
from drawn_calls import Sequence, states_of, two_alike, wrong_in_threads
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


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(k, marks=pytest.mark.slow) for k in range(2, 6))])
def test_drawn_calls_give_what_they_give_without(seed: int, recorder: Rerunning) -> None:
    Sequence(random.Random(seed), recorder).run()
    assert recorder.replays > 5


def trained(layer: Any, calls: int = 4) -> None:
    for _ in range(calls):
        layer(torch.randn(4, 3, 5))[0].sum().backward()


@pytest.mark.parametrize(
    ("kind", "options", "changes"),
    [
        ("RNN", {}, {"nonlinearity": "relu"}),
        ("LSTM", {}, {"batch_first": True}),
        ("GRU", {"num_layers": 2, "dropout": 1.0}, {"dropout": 0.0}),
        ("GRU", {"num_layers": 2}, {"dropout": 1.0}),
        ("LSTM", {"num_layers": 2, "dropout": 1.0}, {"training": False}),
    ],
)
def test_what_is_set_between_calls_holds(
    kind: str, options: dict[str, Any], changes: dict[str, Any], recorder: Rerunning
) -> None:
    layer, without = two_alike(kind, options, recorder)
    x = torch.randn(5, 5, 5)  # steps, rows and width alike: no shape tells a change
    for again in range(3):
        for _ in range(5):
            found, expected = layer(x), without(x)
            for mine, other in zip(states_of(found), states_of(expected), strict=True):
                assert torch.equal(mine, other)
        for name, value in changes.items():
            value = value if again == 0 else not value if isinstance(value, bool) else value
            setattr(layer, name, value)
            setattr(without.layer, name, value)


def test_other_weights_at_the_same_address_are_checked_anew(recorder: Rerunning) -> None:
    import kerneltune.torch as ours
    from kerneltune.errors import InputError

    changes: list[Callable[[Any], Any]] = [lambda one: one.view(torch.int32), lambda one: one[:4]]
    for change in changes:
        layer = ours.GRU(5, 16)
        x = torch.randn(4, 3, 5)
        with torch.no_grad():
            for _ in range(5):
                layer(x)
            kept = layer.bias_hh_l0.data
            layer.bias_hh_l0.requires_grad_(False).data = change(kept)
            assert layer.bias_hh_l0.data_ptr() == kept.data_ptr()
            with pytest.raises(InputError, match="bias_hh_l0"):
                layer(x)


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
    assert not wrong_in_threads(layer, inputs, expected, 40, (torch.no_grad,))
    assert recorder.replays > 0


def test_nothing_is_recorded_beside_threads_that_may_use_the_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    from kerneltune.torch import recording

    end = threading.Event()

    class Quiet(threading.Thread):
        __module__ = "tqdm._monitor"

        def run(self) -> None:
            end.wait()

    compiles = threading.Thread(target=end.wait, name="kerneltune-compile_0")
    there = [threading.main_thread(), Quiet(), compiles]
    monkeypatch.setattr(recording.threading, "enumerate", lambda: there)  # type: ignore[attr-defined]  # other tests may leave threads
    monkeypatch.delenv(recording.SWITCH, raising=False)
    for one in there[1:]:
        one.start()
    assert recording.CudaGraphs().may()
    there.append(threading.Thread(target=end.wait))
    there[-1].start()
    assert not recording.CudaGraphs().may()
    monkeypatch.setenv(recording.SWITCH, "1")
    assert recording.CudaGraphs().may()
    end.set()
    for one in there[1:]:
        one.join()


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


def test_other_kinds_of_tensors_and_modes_run_without(recorder: Rerunning) -> None:
    from torch.utils._python_dispatch import TorchDispatchMode

    import kerneltune.torch as ours

    class Own(torch.Tensor):  # type: ignore[misc]
        pass

    class Counting(TorchDispatchMode):  # type: ignore[misc]
        seen = 0

        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            self.seen += 1
            return function(*args, **(kwargs or {}))

    layer, x = ours.GRU(5, 16), torch.randn(4, 3, 5)
    with torch.no_grad():
        for _ in range(5):
            layer(x.as_subclass(Own))
        with Counting() as mode:
            for _ in range(5):
                layer(x)
        assert recorder.records == 0
        assert mode.seen > 5
        layer.weight_hh_l0 = torch.nn.Parameter(layer.weight_hh_l0.as_subclass(Own))
        for _ in range(5):
            layer(x)
    assert recorder.records == 0


def test_a_call_like_the_last_one_is_asked_what_may_differ(recorder: Rerunning) -> None:
    """Between calls that are replayed come others of the same shape that run otherwise."""
    import kerneltune.torch as ours
    from kerneltune.errors import InputError

    layer, without = two_alike("LSTM", {"num_layers": 2}, recorder)
    x, hx = torch.randn(1, 3, 5), (torch.randn(2, 3, 16), torch.randn(2, 3, 16))

    def same() -> bool:
        """Whether a call gives what the twin gives; replays it or not."""
        before, pairs = recorder.replays, zip(layer(x, hx)[1], without(x, hx)[1], strict=True)
        for mine, other in pairs:
            torch.testing.assert_close(mine, other)
        return recorder.replays > before

    with torch.no_grad():
        for _ in range(4):
            found = same()
        assert found
        with ours.native():
            assert not same()
        with torch.autocast("cpu", torch.bfloat16):
            assert layer(x, hx)[0].dtype == torch.bfloat16
        for wrong in (
            (hx[0],),
            (hx[0][:1], hx[1]),
            (hx[0].double(), hx[1]),
            (hx[0], hx[1].to("meta")),
        ):
            with pytest.raises(InputError):
                layer(x, wrong)
        with pytest.raises(InputError):
            layer(x.double(), hx)
        mapped = torch.vmap(lambda one: layer(one, hx)[0])(torch.stack([x, x]))
        torch.testing.assert_close(mapped[1], without(x, hx)[0])
        layer.dropout = 0.999
        assert float((layer(x, hx)[0] - without(x, hx)[0]).abs().max()) > 1e-3
        layer.eval()
        for _ in range(4):
            found = same()
        assert found
        layer.batch_first = True
        torch.testing.assert_close(layer(x.transpose(0, 1), hx)[0].transpose(0, 1), without(x, hx)[0])
    layer.batch_first, layer.dropout = False, 0.0
    for frozen in (True, False, True):
        for one in layer.parameters():
            one.requires_grad_(not frozen)
        for _ in range(4):
            assert layer(x, hx)[0].requires_grad is not frozen


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


def test_weights_that_lie_elsewhere_in_the_backward_pass_are_read_there(recorder: Rerunning) -> None:
    """FSDP frees a layer's weights after the forward pass and gathers them into other memory."""
    import kerneltune.torch as ours

    layer = ours.LSTM(5, 16)
    for _ in range(5):
        layer.zero_grad()
        output = layer(x := torch.randn(4, 3, 5, requires_grad=True))[0]
        output.sum().backward()
    output = layer(x)[0]
    weights = list(layer.parameters())
    storages = [one.untyped_storage() for one in weights]
    values, places = [one.detach().clone() for one in weights], [one.data_ptr() for one in weights]
    for storage in storages:
        storage.resize_(0)
    elsewhere = [torch.empty_like(one) for one in values]  # takes the memory that was freed
    for one, storage, value in zip(weights, storages, values, strict=True):
        storage.resize_(value.numel() * value.element_size())
        with torch.no_grad(), torch.autograd._unsafe_preserve_version_counter(one):
            one.copy_(value)
    for one in elsewhere:
        one.fill_(float("nan"))
    assert [one.data_ptr() for one in weights] != places
    expected, replays = x.grad.clone(), recorder.replays
    x.grad = None
    output.sum().backward()
    torch.testing.assert_close(x.grad, expected)
    assert recorder.replays == replays
