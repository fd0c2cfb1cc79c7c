"""Config of an evaluation: exactly N episodes of a policy that no longer learns."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from plugrl.config.base import AlgorithmConfig, require


@dataclass(frozen=True, kw_only=True)
class EvaluationConfig(AlgorithmConfig):
    """Run exactly ``num_episodes`` episodes, report them, stop."""

    makes_checkpoints: ClassVar[bool] = False

    num_episodes: int = 10
    """Episodes that count: the first ones to start, so that short ones are not preferred."""
    deterministic: bool = True
    """Take the policy's mean or mode in place of a sample."""
    policy_checkpoint_path: Path | None = None
    """Step folder whose weights are evaluated; none evaluates fresh weights."""
    confidence: float = 0.95
    """Level of the confidence interval of the mean return."""
    output: Path | None = None
    """JSON file for the result, beside what is printed."""

    def __post_init__(self) -> None:
        require(self, self.num_episodes >= 1, "num_episodes", "at least 1")
        require(self, 0 < self.confidence < 1, "confidence", "between 0 and 1")


VARIANTS = {"default": EvaluationConfig()}
