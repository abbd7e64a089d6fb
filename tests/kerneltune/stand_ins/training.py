"""Training of a layer of PyTorch on drawn numbers."""

from __future__ import annotations

from typing import Any


def losses_of(torch: Any, layer: Any) -> list[float]:
    """The losses of 60 steps of training a layer of 6 inputs and 8 outputs."""
    x, target = torch.randn(4, 12, 6), torch.rand(4, 12, 8)
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.05)
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        loss = ((layer(x)[0] - target) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
