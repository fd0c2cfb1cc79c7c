"""Evaluation: exactly N episodes of a policy that does not learn."""

import json
import logging
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from plugrl.algorithms.algorithm import Algorithm, TrainState
from plugrl.config.evaluation import EvaluationConfig
from plugrl.data.confidence import Interval, mean_interval
from plugrl.data.first_episodes import Episode, FirstEpisodes
from plugrl.data.frames import Frames, Inference
from plugrl.data.progress import LearnProgress
from plugrl.errors import UsageError
from plugrl.policies.policy import Policy
from plugrl.protocol.messages import Observation

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class EvaluationResult:
    """What N episodes said of a policy."""

    num_episodes: int
    deterministic: bool
    return_mean: float
    return_std: float
    """Standard deviation of the N returns (divided by N)."""
    return_min: float
    return_max: float
    confidence: float
    """Level of the interval."""
    return_interval: Interval | None
    """Of the mean return, by Student's t; None after a single episode."""
    length_mean: float
    """Steps."""
    success_rate: float | None
    """None without any: clients report "no success" of envs that know none, too."""
    returns: list[float]
    """Of each episode, in the order in which they started."""
    lengths: list[int]
    """Of each episode, in steps."""

    def to_json(self) -> str:
        """A JSON object with these fields."""
        return json.dumps(asdict(self), indent=2)

    def metrics(self) -> dict[str, float]:
        """The numbers to log, by name."""
        metrics = {
            "eval/num_episodes": float(self.num_episodes),
            "eval/return_mean": self.return_mean,
            "eval/return_std": self.return_std,
            "eval/return_min": self.return_min,
            "eval/return_max": self.return_max,
            "eval/length_mean": self.length_mean,
        }
        if self.return_interval is not None:
            metrics["eval/return_low"], metrics["eval/return_high"] = self.return_interval
        if self.success_rate is not None:
            metrics["eval/success_rate"] = self.success_rate
        return metrics

    def __str__(self) -> str:
        """A few lines for people."""
        how = "deterministic" if self.deterministic else "sampled"
        plural = "" if self.num_episodes == 1 else "s"
        lines = [
            f"evaluated {self.num_episodes} episode{plural} ({how} actions)",
            f"  mean return  {self.return_mean:.2f} ± {self.return_std:.2f} (standard deviation)",
        ]
        if self.return_interval is not None:
            low, high = self.return_interval
            lines.append(
                f"  {self.confidence:.0%} confidence interval of the mean  {low:.2f} to {high:.2f}"
            )
        lines.append(f"  returns from {self.return_min:.2f} to {self.return_max:.2f}")
        lines.append(f"  mean length  {self.length_mean:.1f} steps")
        if self.success_rate is not None:
            lines.append(f"  success rate  {self.success_rate:.0%}")
        return "\n".join(lines)


class Evaluation(Algorithm[EvaluationConfig]):
    """Acts until the first N episodes to start have finished; its one "learn" is the report."""

    on_policy: ClassVar[bool] = False

    def __init__(self, config: EvaluationConfig, policy: Policy[Any], *, seed: int = 0) -> None:
        """Start with no episode.

        Raises:
            UsageError: ``config.output`` can't be written.
        """
        super().__init__(config, policy, seed=seed)
        if config.output is not None:
            _require_writable(config.output)
        self._episodes = FirstEpisodes(config.num_episodes)
        self._trouble: OSError | None = None
        """Why the result could not be written."""
        self.result: EvaluationResult | None = None
        """What came out, once all episodes have finished."""

    def infer(self, obs: Observation) -> Inference:
        """The policy's actions, sampled or not as the config says."""
        return self.policy.act(obs, deterministic=self.config.deterministic)

    def feedback(self, frames: Frames) -> int:
        """Follow the episodes; nothing else is kept of the frames."""
        self._episodes.add(frames)
        self.global_step += len(frames)
        self.record_episodes(frames.info, frames.next_terminated, frames.next_truncated)
        return len(frames)

    def should_learn(self) -> bool:
        """Whether the report is due."""
        return self._episodes.complete and self.result is None

    def should_save(self) -> bool:
        """Never: nothing changes."""
        return False

    def should_stop(self) -> bool:
        """Whether the report is made."""
        return self.result is not None

    def learn(self, progress: LearnProgress) -> dict[str, float]:
        """Make the report, and write it to ``config.output``; the policy stays as it is.

        Raises:
            LearnInterruptedError: a stop is wanted.
        """
        progress.step(epoch=0, num_epochs=1, minibatch=0, num_minibatches=1)
        self.result = summarize(self._episodes.finished(), self.config)
        if self.config.output is not None:
            try:
                _write(self.config.output, self.result.to_json() + "\n")
            except OSError as error:
                # What was measured is still told.
                self._trouble = error
                logger.error("THE RESULT IS NOT WRITTEN to %s: %s", self.config.output, error)
        self.num_learns += 1
        return self.result.metrics()

    def conclusion(self) -> str | None:
        """The result, and where its JSON is."""
        if self.result is None:
            return None
        where = str(self.config.output or "not written: --algo.output FILE names where")
        if self._trouble is not None:
            where = f"not written: {self._trouble}"
        return f"{self.result}\n  JSON  {where}"

    def load_state(self, state: TrainState) -> None:
        """Become what ``state`` returned, with no episode."""
        super().load_state(state)
        self._episodes = FirstEpisodes(self.config.num_episodes)
        self.result = None


def _require_writable(path: Path) -> None:
    there = path.exists()
    if there and not (path.is_file() or path.is_dir()):
        return  # a pipe or a device, which may wait for its reader
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("a").close()
        if not there:
            path.unlink()
    except OSError as error:
        raise UsageError(
            f"expected a file that can be written, got {path} ({error.strerror}), at --algo.output"
        ) from error


def _write(path: Path, text: str) -> None:
    """Whole or not at all, where it is a file; it may be a pipe or a device."""
    if path.exists() and not path.is_file():
        path.write_text(text)
        return
    beside = path.with_name(f".{path.name}.part")
    beside.write_text(text)
    beside.replace(path)


def summarize(episodes: list[Episode], config: EvaluationConfig) -> EvaluationResult:
    """The statistics of at least one episode."""
    returns = [episode.episode_return for episode in episodes]
    lengths = [episode.length for episode in episodes]
    successes = [episode.success for episode in episodes if episode.success is not None]
    return EvaluationResult(
        num_episodes=len(episodes),
        deterministic=config.deterministic,
        return_mean=float(np.mean(returns)),
        return_std=float(np.std(returns)),
        return_min=min(returns),
        return_max=max(returns),
        confidence=config.confidence,
        return_interval=mean_interval(returns, config.confidence) if len(returns) > 1 else None,
        length_mean=float(np.mean(lengths)),
        success_rate=float(np.mean(successes)) if any(successes) else None,
        returns=returns,
        lengths=lengths,
    )
