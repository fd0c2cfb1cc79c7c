"""Confidence intervals of a mean, by Student's t."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Interval(NamedTuple):
    """Where the true mean lies, at some level of confidence."""

    low: float
    high: float


def mean_interval(samples: Sequence[float], confidence: float) -> Interval:
    """The interval of the mean of at least two independent, roughly normal samples."""
    n = len(samples)
    mean = float(np.mean(samples))
    standard_error = float(np.std(samples, ddof=1)) / math.sqrt(n)
    reach = student_t_quantile(confidence, n - 1) * standard_error
    return Interval(mean - reach, mean + reach)


def student_t_quantile(confidence: float, dof: int) -> float:
    """The t with P(-t < T < t) = ``confidence``, for ``dof`` degrees of freedom, by bisection."""
    low, high = 0.0, math.pi / 2
    for _ in range(60):  # halves pi / 2 below the resolution of a float
        theta = (low + high) / 2
        if _central_probability(theta, dof) < confidence:
            low = theta
        else:
            high = theta
    return math.sqrt(dof) * math.tan((low + high) / 2)


def _central_probability(theta: float, dof: int) -> float:
    """P(-t < T < t) for t = sqrt(dof) tan(theta) (Abramowitz and Stegun, 26.7.3 and 26.7.4)."""
    odd = dof % 2 == 1
    cosine = math.cos(theta)
    term = cosine if odd else 1.0
    total = 0.0
    for k in range(2 + odd, dof + 1 + odd, 2):
        total += term
        term *= (k - 1) / k * cosine**2
    if odd:
        return 2 / math.pi * (theta + math.sin(theta) * total)
    return math.sin(theta) * total
