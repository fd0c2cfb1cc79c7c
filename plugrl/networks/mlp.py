"""Multilayer perceptrons with the initialisation that policy gradients like.

Legend: B rows of a batch, D input width.
"""

import itertools
import math
from collections.abc import Sequence

import torch
from torch import nn
from torch.nn import functional as F

_ACTIVATIONS = {"tanh": torch.tanh, "relu": torch.relu, "elu": F.elu, "silu": F.silu}


class MLP(nn.Module):
    """Linear layers with a nonlinearity between them."""

    def __init__(self, sizes: Sequence[int], *, activation: str, output_gain: float) -> None:
        """Draw orthogonal weights with gain sqrt(2), ``output_gain`` in the last layer; biases 0.

        Args:
            sizes: widths of input, hidden layers and output.
            activation: tanh, relu, elu or silu.
            output_gain: how strongly the fresh network's output depends on its input.
        """
        super().__init__()
        self._linears = [nn.Linear(i, o) for i, o in itertools.pairwise(sizes)]
        self.layers = nn.ModuleList(self._linears)
        self._activation = _ACTIVATIONS[activation]
        for layer in self._linears:
            gain = output_gain if layer is self._linears[-1] else math.sqrt(2)
            nn.init.orthogonal_(layer.weight, gain)
            nn.init.zeros_(layer.bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(B, D) -> (B, output width)."""
        *hidden, last = self._linears
        for layer in hidden:
            x = self._activation(F.linear(x, layer.weight, layer.bias))
        return F.linear(x, last.weight, last.bias)
