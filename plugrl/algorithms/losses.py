"""The mathematics of policy-gradient updates, as pure functions.

Legend: B rows of a minibatch, m rows of a rollout.
"""

import torch


def standardize(advantages: torch.Tensor) -> torch.Tensor:
    """(A - mean) / (std + 1e-8), (B,) with B at least 2."""
    return (advantages - advantages.mean()) / (advantages.std() + 1e-8)


def clipped_surrogate(
    ratio: torch.Tensor, advantages: torch.Tensor, clip_ratio: float
) -> torch.Tensor:
    """PPO's policy loss (Schulman et al. 2017, equation 7), to be minimised: ().

        mean max(-A r, -A clip(r, 1 - c, 1 + c))

    Args:
        ratio: (B,) new over old probability.
        advantages: (B,)
        clip_ratio: c.
    """
    clipped = ratio.clamp(1 - clip_ratio, 1 + clip_ratio)
    return -torch.minimum(advantages * ratio, advantages * clipped).mean()


def value_loss(values: torch.Tensor, returns: torch.Tensor) -> torch.Tensor:
    """1/2 mean (V - R)^2, for (B,) and (B,): ()."""
    return 0.5 * (values - returns).square().mean()


def clipped_value_loss(
    values: torch.Tensor, old_values: torch.Tensor, returns: torch.Tensor, clip_value: float
) -> torch.Tensor:
    """1/2 mean max((V - R)^2, (V_old + clip(V - V_old, -c, c) - R)^2), all (B,): ()."""
    clipped = old_values + (values - old_values).clamp(-clip_value, clip_value)
    errors = torch.maximum((values - returns).square(), (clipped - returns).square())
    return 0.5 * errors.mean()


def approximate_kl(log_ratio: torch.Tensor) -> torch.Tensor:
    """KL(old | new) from old samples, mean((r - 1) - log r), which is never negative: ().

    The estimator k3 of http://joschu.net/blog/kl-approx.html.

    Args:
        log_ratio: (B,) log r.
    """
    return (log_ratio.expm1() - log_ratio).mean()


def clip_fraction(log_ratio: torch.Tensor, clip_ratio: float) -> torch.Tensor:
    """Share of the rows whose ratio is out of [1 - c, 1 + c]: ()."""
    return (log_ratio.expm1().abs() > clip_ratio).float().mean()


def explained_variance(values: torch.Tensor, returns: torch.Tensor) -> torch.Tensor:
    """1 - var(R - V) / var(R), for (m,) and (m,): 1 is perfect, 0 no better than a constant."""
    return 1 - (returns - values).var() / returns.var()
