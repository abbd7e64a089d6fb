"""What of the peers is installed: accelerated-scan, fla's hgrn, associative scans, log space."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def measured(shapes: Sequence[tuple[int, int, int]], rate: float) -> list[dict[str, Any]]:
    """Times of every peer on every shape that it takes; `rate` is a copy's, in GB/s."""
    import torch
    from triton.testing import do_bench

    rows: list[dict[str, Any]] = []

    def add(
        peer: str, shape: tuple[int, int, int], dtype: Any, run: Callable[[Any, Any], Any], transposed: bool
    ) -> None:
        batch, steps, channels = shape
        sizes = (batch, channels, steps) if transposed else shape
        row: dict[str, Any] = {"peer": peer, "shape": shape, "dtype": str(dtype).removeprefix("torch.")}
        try:
            a = torch.rand(sizes, device="cuda", dtype=dtype).requires_grad_()
            b = torch.randn(sizes, device="cuda", dtype=dtype).requires_grad_()
            with torch.no_grad():
                row["forward"] = do_bench(lambda: run(a, b), warmup=5, rep=30, return_mode="median")
            weight = torch.randn(sizes, device="cuda", dtype=dtype)

            def both() -> None:
                a.grad = b.grad = None
                run(a, b).backward(weight)

            row["both"] = do_bench(both, warmup=5, rep=30, return_mode="median")
            row["percent"] = round(3 * a.element_size() * a.numel() / rate / 1e4 / row["forward"], 1)
        except Exception as error:  # a peer that cannot take a shape says so in its own classes
            row["failed"] = f"{type(error).__name__}: {error}"[:200]
        rows.append(row)
        print(row, flush=True)

    for shape in shapes:
        if shape[0] * shape[1] * shape[2] > 2**30:
            continue
        try:
            from accelerated_scan.scalar import scan as triton_scan

            add("accelerated-scan, Triton, [B, C, T]", shape, torch.float32, triton_scan, True)
        except ImportError as error:
            rows.append({"peer": "accelerated-scan", "failed": str(error)})
        try:
            from fla.ops.hgrn import chunk_hgrn

            add("fla hgrn, chunk", shape, torch.bfloat16, lambda a, b: chunk_hgrn(b, a)[0], False)
        except ImportError as error:
            rows.append({"peer": "fla", "failed": str(error)})
        if shape[0] * shape[1] * shape[2] <= 2**27:
            add("torch associative_scan, compiled", shape, torch.float32, compiled_scan(torch), False)
            add("log space", shape, torch.float32, log_space, False)
            rows.append(by_jax(shape, rate))
            print(rows[-1], flush=True)
    return rows


def compiled_scan(torch: Any) -> Callable[[Any, Any], Any]:
    """`torch.associative_scan`, by pointwise code that inductor makes."""
    from torch._higher_order_ops import associative_scan

    def joined(left: Any, right: Any) -> Any:
        return left[0] * right[0], right[0] * left[1] + right[1]

    def run(a: Any, b: Any) -> Any:
        return associative_scan(joined, (a, b), 1, combine_mode="pointwise")[1]

    torch._dynamo.reset()
    found: Callable[[Any, Any], Any] = torch.compile(run)
    return found


def log_space(a: Any, b: Any) -> Any:
    """The scan of Heinsen (2023) in log space, b taken as positive."""
    passed = a.log().cumsum(1)
    return (passed + ((b.abs() + 1e-9).log() - passed).logcumsumexp(1)).exp()


def by_jax(shape: tuple[int, int, int], rate: float) -> dict[str, Any]:
    """`jax.lax.associative_scan` in float32: the median of ten calls, each waited for."""
    import time
    from statistics import median

    row: dict[str, Any] = {"peer": "jax associative_scan", "shape": shape, "dtype": "float32"}
    try:
        import jax

        a = jax.random.uniform(jax.random.key(0), shape)
        b = jax.random.normal(jax.random.key(1), shape)

        def joined(left: Any, right: Any) -> Any:
            return left[0] * right[0], right[0] * left[1] + right[1]

        run = jax.jit(lambda a, b: jax.lax.associative_scan(joined, (a, b), axis=1)[1])
        run(a, b).block_until_ready()
        times = []
        for _ in range(10):
            begin = time.perf_counter()
            run(a, b).block_until_ready()
            times.append(1e3 * (time.perf_counter() - begin))
        row["forward"] = median(times)
        row["percent"] = round(12 * a.size / rate / 1e4 / row["forward"], 1)
    except Exception as error:  # what jax does not have or cannot do, in its own classes
        row["failed"] = f"{type(error).__name__}: {error}"[:200]
    return row
