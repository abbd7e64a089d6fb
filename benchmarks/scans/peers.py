"""What of the peers is installed: accelerated-scan and fla's hgrn; forward, and forward and backward."""

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
    return rows
