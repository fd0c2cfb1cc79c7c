"""What an update passes around.

Legend: m rows of a rollout, B of a minibatch, H action horizon; *obs, *action: shapes of one row.
"""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from plugrl.algorithms import losses
from plugrl.data.rollout import Rows


class Batch(NamedTuple):
    """Rows to learn from; all first dimensions are m, or B in a minibatch."""

    inputs: torch.Tensor
    """(m, *obs) prepared observations."""
    actions: torch.Tensor
    """(m, H, *action)"""
    old_log_probs: torch.Tensor
    """(m,) of the policy that acted."""
    old_values: torch.Tensor
    """(m,) of the policy that acted."""
    advantages: torch.Tensor
    """(m,)"""
    returns: torch.Tensor
    """(m,) targets of the value function."""

    @staticmethod
    def of(rows: Rows, inputs: torch.Tensor, advantages: NDArray[np.float64]) -> "Batch":
        """A rollout's rows (m,) with their advantages (m,), on the device of ``inputs``."""
        columns = (
            torch.from_numpy(rows.actions),
            torch.from_numpy(rows.log_probs),
            torch.from_numpy(rows.values),
            torch.from_numpy(advantages).float(),
            torch.from_numpy(advantages + rows.values).float(),
        )
        return Batch(inputs, *(column.to(inputs.device) for column in columns))

    def permuted(self, order: torch.Tensor) -> "Batch":
        """The rows in this order, (m,)."""
        return Batch(*(field[order] for field in self))

    def split(self, num_parts: int) -> list["Batch"]:
        """Parts whose sizes differ by one at most; every row is in one."""
        columns = (field.tensor_split(num_parts) for field in self)
        return [Batch(*part) for part in zip(*columns, strict=True)]


class Step(NamedTuple):
    """What one minibatch said; tensors without gradients."""

    policy_loss: torch.Tensor
    """()"""
    value_loss: torch.Tensor
    """()"""
    entropy: torch.Tensor
    """()"""
    grad_norm: torch.Tensor
    """() before clipping."""
    log_ratio: torch.Tensor
    """(B,) before the step."""


def diagnostics(batch: Batch, steps: list[Step], clip_ratio: float) -> dict[str, float]:
    """What to watch of an update; the numbers leave the device together, after all steps."""
    log_ratio = torch.cat([step.log_ratio for step in steps])
    metrics = {
        "train/policy_loss": torch.stack([step.policy_loss for step in steps]).mean(),
        "train/value_loss": torch.stack([step.value_loss for step in steps]).mean(),
        "train/entropy": torch.stack([step.entropy for step in steps]).mean(),
        "train/grad_norm": torch.stack([step.grad_norm for step in steps]).mean(),
        "train/approx_kl": losses.approximate_kl(log_ratio),
        "train/clip_fraction": losses.clip_fraction(log_ratio, clip_ratio),
        "train/explained_variance": losses.explained_variance(batch.old_values, batch.returns),
    }
    return dict(zip(metrics, torch.stack(list(metrics.values())).tolist(), strict=True)) | {
        "train/num_minibatches": float(len(steps))
    }
