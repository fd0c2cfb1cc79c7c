"""What an update does about the distance it has come from the policy that acted."""

_STOP_FACTOR = 1.5
"""How far beyond the target the epochs are left."""
_RATE_STEP = 1.5
"""What one adaption multiplies or divides the learning rate by."""
_RATE_LIMIT = 30.0
"""How far the learning rate may be carried up or down."""


class KLControl:
    """Leaves the epochs early, scales the learning rate, or neither."""

    def __init__(self, *, target: float | None, adaptive: float | None) -> None:
        """Start with an unscaled learning rate.

        Args:
            target: leave the epochs beyond 1.5 times this KL; None: never.
            adaptive: scale the learning rate to hold the KL within a factor 2 of this (the rule
                of Schwarke et al., rsl_rl); None: don't.
        """
        self._target = target
        self._adaptive = adaptive
        self.rate_factor = 1.0
        """What to multiply the learning rate by."""

    @property
    def active(self) -> bool:
        """Whether a KL is worth computing."""
        return self._target is not None or self._adaptive is not None

    def adapt(self, kl: float) -> None:
        """Scale the learning rate after a look at the KL so far."""
        if self._adaptive is None:
            return
        if kl > 2 * self._adaptive:
            self.rate_factor = max(self.rate_factor / _RATE_STEP, 1 / _RATE_LIMIT)
        elif kl < self._adaptive / 2:
            self.rate_factor = min(self.rate_factor * _RATE_STEP, _RATE_LIMIT)

    def too_far(self, kl: float) -> bool:
        """Whether to leave the epochs."""
        return self._target is not None and kl > _STOP_FACTOR * self._target
