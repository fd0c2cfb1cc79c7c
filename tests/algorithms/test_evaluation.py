import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from plugrl.algorithms.evaluation import Evaluation, summarize
from plugrl.config.base import EnvSizes
from plugrl.config.evaluation import EvaluationConfig
from plugrl.config.gaussian import GaussianConfig
from plugrl.data.first_episodes import Episode
from plugrl.data.progress import LearnProgress
from plugrl.errors import UsageError
from plugrl.policies.gaussian import GaussianPolicy


def evaluation(**fields: Any) -> Evaluation:
    torch.manual_seed(0)
    policy = GaussianPolicy(GaussianConfig(), EnvSizes(obs_dim=2, action_dim=2))
    return Evaluation(EvaluationConfig(**fields), policy)


def test_it_counts_exactly_the_episodes_asked_for_and_stops(
    drive: Any, target: Callable[..., Any]
) -> None:
    algorithm = evaluation(num_episodes=5)
    assert not algorithm.should_stop()
    (metrics,) = drive(algorithm, target(3), 1)
    assert algorithm.should_stop()
    assert not algorithm.should_learn()
    assert algorithm.result is not None
    assert len(algorithm.result.returns) == 5
    assert metrics["eval/num_episodes"] == 5
    assert metrics["eval/return_mean"] == np.mean(algorithm.result.returns)


def test_its_conclusion_is_the_result_and_where_its_json_is(
    drive: Any, target: Callable[..., Any], tmp_path: Path
) -> None:
    algorithm = evaluation(num_episodes=1, output=tmp_path / "r.json")
    assert algorithm.conclusion() is None
    drive(algorithm, target(1), 1)
    conclusion = algorithm.conclusion()
    assert conclusion is not None
    assert conclusion.startswith(f"{algorithm.result}\n")
    assert conclusion.endswith(f"JSON  {tmp_path / 'r.json'}")


def test_it_learns_nothing(drive: Any, target: Callable[..., Any]) -> None:
    algorithm = evaluation(num_episodes=4, deterministic=False)
    before = algorithm.policy.weights()
    drive(algorithm, target(2), 1)
    after = algorithm.policy.weights()
    assert all(np.array_equal(before[name], after[name]) for name in before)
    assert not algorithm.should_save()


def test_deterministic_evaluations_repeat_and_sampled_ones_differ_from_them(
    drive: Any, target: Callable[..., Any]
) -> None:
    def returns(*, deterministic: bool) -> list[float]:
        algorithm = evaluation(num_episodes=4, deterministic=deterministic)
        drive(algorithm, target(2), 1)
        assert algorithm.result is not None
        return algorithm.result.returns

    assert returns(deterministic=True) == returns(deterministic=True)
    assert returns(deterministic=True) != returns(deterministic=False)


def test_the_result_is_written_as_json(
    drive: Any, target: Callable[..., Any], tmp_path: Path
) -> None:
    output = tmp_path / "new" / "result.json"
    algorithm = evaluation(num_episodes=3, output=output)
    drive(algorithm, target(2), 1)
    assert algorithm.result is not None
    written = json.loads(output.read_text())
    assert written["returns"] == algorithm.result.returns
    assert written["return_interval"] == list(algorithm.result.return_interval or ())


def test_a_file_that_cannot_be_written_is_refused_before_the_first_episode(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for path in (tmp_path, tmp_path / "file" / "r.json", Path("/proc/none/r.json")):
        with pytest.raises(UsageError, match=r"can be written, got .* at --algo\.output"):
            evaluation(num_episodes=1, output=path)
    evaluation(num_episodes=1, output=tmp_path / "file")
    evaluation(num_episodes=1, output=tmp_path / "r.json")
    assert (tmp_path / "file").read_text() == "mine"
    assert not (tmp_path / "r.json").exists()


def test_a_result_that_cannot_be_written_is_told_all_the_same(
    drive: Any, target: Callable[..., Any], tmp_path: Path
) -> None:
    output = Path("/dev/full")
    algorithm = evaluation(num_episodes=1, output=output)
    drive(algorithm, target(2), 1)
    said = str(algorithm.conclusion())
    assert said.startswith("evaluated 1 episode (")
    assert "JSON  not written: [Errno 28]" in said


def test_statistics_by_hand() -> None:
    episodes = [
        Episode(0, episode_return=1.0, length=10, success=True),
        Episode(1, episode_return=3.0, length=20, success=False),
    ]
    result = summarize(episodes, EvaluationConfig(num_episodes=2))
    assert (result.return_mean, result.return_std) == (2.0, 1.0)
    assert (result.return_min, result.return_max) == (1.0, 3.0)
    assert (result.length_mean, result.success_rate) == (15.0, 0.5)
    assert result.return_interval == pytest.approx((2 - 12.706, 2 + 12.706), abs=1e-3)
    assert result.metrics()["eval/success_rate"] == 0.5
    assert str(result).splitlines() == [
        "evaluated 2 episodes (deterministic actions)",
        "  mean return  2.00 ± 1.00 (standard deviation)",
        "  95% confidence interval of the mean  -10.71 to 14.71",
        "  returns from 1.00 to 3.00",
        "  mean length  15.0 steps",
        "  success rate  50%",
    ]


def test_without_any_success_there_is_no_rate() -> None:
    episodes = [Episode(i, episode_return=1.0, success=False) for i in range(2)]
    result = summarize(episodes, EvaluationConfig(num_episodes=2))
    assert result.success_rate is None
    assert "eval/success_rate" not in result.metrics()


def test_one_episode_has_no_interval() -> None:
    result = summarize([Episode(0, episode_return=1.0)], EvaluationConfig(num_episodes=1))
    assert result.return_interval is None
    assert json.loads(result.to_json())["return_interval"] is None
    assert "eval/return_low" not in result.metrics()


def test_a_state_taken_back_starts_over(drive: Any, target: Callable[..., Any]) -> None:
    algorithm = evaluation(num_episodes=3)
    before = algorithm.state()
    drive(algorithm, target(2), 1)
    algorithm.load_state(before)
    assert algorithm.result is None
    drive(algorithm, target(2), 1)
    assert algorithm.should_stop()


def test_an_interrupted_report_is_none() -> None:
    algorithm = evaluation(num_episodes=1)
    progress = LearnProgress()
    progress.interrupt()
    with pytest.raises(Exception, match="stopped before"):
        algorithm.learn(progress)
    assert algorithm.result is None
