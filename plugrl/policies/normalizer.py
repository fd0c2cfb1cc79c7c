"""Scaling of observations by running moments that live in a policy's ``state_dict``.

Legend: B rows, D width of a row.
"""

import numpy as np
import torch
from torch import nn

from plugrl.data.moments import Moments

_VARIANCE_EPS = 1e-8


class Normalizer(nn.Module):
    """(x - mean) / std, clipped; the moments move only when ``update`` is called."""

    mean: torch.Tensor
    var: torch.Tensor
    count: torch.Tensor

    def __init__(self, width: int, *, clip: float) -> None:
        """Start as the identity, but for the clipping to [-``clip``, ``clip``]."""
        super().__init__()
        self._clip = clip
        moments = Moments.empty((width,))
        self.register_buffer("mean", torch.from_numpy(moments.mean))  # (D,) float64
        self.register_buffer("var", torch.from_numpy(moments.var))  # (D,) float64
        self.register_buffer("count", torch.tensor(moments.count, dtype=torch.float64))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(B, D) of any float -> (B, D) float32."""
        # continuous 6, continuous 7: normalise, then clip
        scaled = (x - self.mean) * (self.var + _VARIANCE_EPS).rsqrt()
        return scaled.clamp_(-self._clip, self._clip).float()

    @torch.no_grad()
    def update(self, rows: torch.Tensor) -> None:
        """Fold (B, D) raw rows into the moments."""
        moments = Moments(self.mean.cpu().numpy(), self.var.cpu().numpy(), self.count.item())
        moments = moments.including(rows.cpu().numpy().astype(np.float64))
        self.mean.copy_(torch.from_numpy(moments.mean))
        self.var.copy_(torch.from_numpy(moments.var))
        self.count.fill_(moments.count)
