"""Adam (Kingma and Ba 2015) on one flat tensor.

The same numbers as ``torch.optim.Adam``, whose bookkeeping for parameter groups and hooks costs
more than the arithmetic on networks as small as ours, twice over.

Legend: P parameters in all.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray


class FlatAdam:
    """Steps along ``parameters.grad``."""

    def __init__(
        self,
        parameters: torch.Tensor,
        *,
        eps: float,
        beta1: float = 0.9,
        beta2: float = 0.999,
    ) -> None:
        """Start with no memory of gradients.

        Args:
            parameters: (P,) as ``flatten_parameters`` returns it.
            eps: bound of the denominator from below.
            beta1: decay of the mean gradient.
            beta2: decay of the mean squared gradient.
        """
        assert parameters.grad is not None
        self._parameters = parameters.detach()
        self._grad = parameters.grad
        self._eps, self._beta1, self._beta2 = eps, beta1, beta2
        self.mean = torch.zeros_like(self._grad)
        """(P,) of the gradient."""
        self.square = torch.zeros_like(self._grad)
        """(P,) mean of the squared gradient."""
        self.num_steps = 0

    @torch.no_grad()
    def step(self, learning_rate: float) -> None:
        """Descend: p <- p - lr m_hat / (sqrt(v_hat) + eps), m_hat and v_hat unbiased."""
        self.num_steps += 1
        bias1 = 1 - self._beta1**self.num_steps
        bias2 = 1 - self._beta2**self.num_steps
        self.mean.lerp_(self._grad, 1 - self._beta1)
        self.square.mul_(self._beta2).addcmul_(self._grad, self._grad, value=1 - self._beta2)
        denominator = self.square.sqrt().div_(math.sqrt(bias2)).add_(self._eps)
        self._parameters.addcdiv_(self.mean, denominator, value=-learning_rate / bias1)

    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays that ``load_state`` takes back; copies."""
        return {
            "adam.mean": self.mean.cpu().numpy().copy(),
            "adam.square": self.square.cpu().numpy().copy(),
            "adam.num_steps": np.array(self.num_steps),
        }

    def load_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Become what ``state`` returned; other entries are ignored."""
        self.mean.copy_(torch.from_numpy(np.array(state["adam.mean"])))
        self.square.copy_(torch.from_numpy(np.array(state["adam.square"])))
        self.num_steps = int(state["adam.num_steps"])
