"""torch's precision settings: float32 products, and the types of autocast.

Float32 products go by older switches or by newer ones. Torch refuses to read the older (`allow_tf32`) once
one of the newer (`fp32_precision`) has been set.
"""

from __future__ import annotations

from collections.abc import Hashable

import torch

OF_CUDNN = ("lstm", "gru", "elman", "elman_relu")
_of = getattr(torch._C, "_get_fp32_precision_getter", None)  # from torch 2.9 on; knows of both


def rnn_takes_tf32() -> bool:
    """Whether recurrent layers may compute float32 products in TF32; see `torch.backends.cudnn`."""
    if _of is None:
        return bool(torch._C._get_cudnn_allow_tf32())
    return bool(_of("cuda", "rnn") == "tf32")


def autocast_dtype(tensor: torch.Tensor) -> torch.dtype | None:
    """The type that autocast casts a tensor to; None where it keeps it, such as float64 and integers."""
    device = tensor.device.type
    if device == "meta" or not torch.is_autocast_enabled(device):
        return None
    if tensor.dtype == torch.float64 or not tensor.is_floating_point():
        return None
    found: torch.dtype = torch.get_autocast_dtype(device)
    return found


def autocast_of_cell(tensor: torch.Tensor, cell: str) -> torch.dtype | None:
    """The type that autocast casts a tensor to in a recurrent network.

    On a GPU torch casts for cuDNN's to float16, whatever autocast's type is, and so do these layers.
    """
    found = autocast_dtype(tensor)
    return torch.float16 if found is not None and tensor.is_cuda and cell in OF_CUDNN else found


def of_products() -> Hashable:
    """Settings that torch's own products on a GPU depend on."""
    return (
        torch._C._get_cublas_allow_tf32() if _of is None else _of("cuda", "matmul"),
        torch._C._get_cublas_allow_fp16_reduced_precision_reduction(),
        torch._C._get_cublas_allow_bf16_reduced_precision_reduction(),
    )


rnn_takes_tf32._dynamo_marked_constant = True  # type: ignore[attr-defined] # asked when a model is compiled
