"""Matrix products of layers, float32 in TF32 where torch lets recurrent networks compute so.

torch has a switch for its own products and another one for cuDNN's recurrent networks, whose products of x
and of the weights' gradients go by the latter, too. Its switches hold for all threads of a process, so these
products are asked of cuBLAS here.
"""

from __future__ import annotations

from functools import lru_cache

import torch

from kerneltune.running.cublas import Product, Products

LIBRARY_BYTES = 2**25  # as cuBLAS's manual advises for Hopper


def multiply(
    left: torch.Tensor,
    right: torch.Tensor,
    *,
    tf32: bool,
    add: torch.Tensor | None = None,
    out: torch.Tensor | None = None,
) -> torch.Tensor:
    """`left @ right`, of matrices or of batches of them.

    Args:
        left: `[M, K]` or `[N, M, K]`.
        right: `[K, R]` or `[N, K, R]`.
        tf32: Whether products of float32 may be computed in TF32.
        add: What is added, as it is broadcast.
        out: Where the result goes; its last dimension is contiguous.
    """
    if not tf32 or left.dtype != torch.float32 or not left.is_cuda:
        return _by_torch(left, right, add, out)
    if out is None:
        out = left.new_empty((*left.shape[:-1], right.shape[-1]))
    if not out.numel():
        return out
    if add is not None:
        out.copy_(add.expand(out.shape))
    if left.shape[-1]:
        _queue(_readable(left), _readable(right), out, adds=add is not None)
    elif add is None:
        out.zero_()
    return out


def _by_torch(
    left: torch.Tensor, right: torch.Tensor, add: torch.Tensor | None, out: torch.Tensor | None
) -> torch.Tensor:
    plain, added = (torch.mm, torch.addmm) if left.dim() == 2 else (torch.bmm, torch.baddbmm)
    given = {} if out is None else {"out": out}
    return plain(left, right, **given) if add is None else added(add, left, right, **given)


def _readable(matrix: torch.Tensor) -> torch.Tensor:
    """The matrix, or a copy, with rows or columns that are contiguous and apart from one another."""
    return matrix if _lies_by_rows(matrix) or _lies_by_rows(matrix.mT) else matrix.contiguous()


def _lies_by_rows(matrix: torch.Tensor) -> bool:
    rows, columns = matrix.shape[-2:]
    along, across = matrix.stride(-1), matrix.stride(-2)
    return bool((along == 1 or columns == 1) and (across >= columns or rows == 1))


def _queue(left: torch.Tensor, right: torch.Tensor, out: torch.Tensor, *, adds: bool) -> None:
    """Queue the product on the current stream: in column order, out^T = right^T left^T."""
    (turned_b, leading_b), (turned_a, leading_a) = _order(left), _order(right)
    batch = out.shape[0] if out.dim() == 3 else 1
    strides = [one.stride(0) if one.dim() == 3 else 0 for one in (right, left, out)]
    product = Product(
        transposed=(turned_a, turned_b),
        sizes=(right.shape[-1], left.shape[-2], left.shape[-1]),
        leading=(leading_a, leading_b, max(out.stride(-2), out.shape[-1])),
        strides=(strides[0], strides[1], strides[2]),
        heads=batch,
        dtype="tf32",
        result="fp32",
        adds=adds,
    )
    with torch.cuda.device(out.device):
        stream = torch._C._cuda_getCurrentRawStream(out.get_device())
        workspace = torch.empty(LIBRARY_BYTES, dtype=torch.uint8, device=out.device)
        products = _products(product, out.get_device())
        with products.on(stream, workspace.data_ptr()):
            products.queue(right.data_ptr(), left.data_ptr(), out.data_ptr())


def _order(matrix: torch.Tensor) -> tuple[bool, int]:
    """Whether a matrix lies column after column, and how far these, or rows, are apart."""
    if _lies_by_rows(matrix):
        return False, max(matrix.stride(-2), matrix.shape[-1])
    return True, max(matrix.stride(-1), matrix.shape[-2])


@lru_cache(maxsize=1024)
def _products(product: Product, device: int) -> Products:
    """The product on a device, whose context is current."""
    return Products(product, LIBRARY_BYTES)
