import importlib.util
import subprocess
import sys

import pytest

from plugrl.config.server import TrackConfig
from plugrl.errors import UsageError
from plugrl.training.tracking.assembly import require_tracker, start_tracking


def test_console_and_jsonl_are_always_there(tracked, tmp_path, capsys):
    tracker = start_tracking(TrackConfig(), tracked())
    tracker.report({"rollout/episode_return_mean": 1.5}, 10)
    tracker.close()
    assert capsys.readouterr().out == "step 10 | return 1.5\n"
    assert [p.name for p in tmp_path.iterdir()] == ["metrics.jsonl"]


def test_an_enabled_tracker_comes_on_top(tracked, tmp_path, capsys):
    tracker = start_tracking(TrackConfig(enabled=True, tracker="tensorboard"), tracked())
    tracker.report({"x": 1.5}, 10)
    tracker.close()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["metrics.jsonl", "tensorboard"]


def test_a_tracker_that_is_chosen_but_not_enabled_is_ignored_with_a_warning(tracked, caplog):
    start_tracking(TrackConfig(tracker="wandb"), tracked()).close()
    assert "--track.enabled" in caplog.text
    caplog.clear()
    start_tracking(TrackConfig(), tracked()).close()
    assert caplog.text == ""


@pytest.mark.parametrize(
    ("tracker", "extra"), [("wandb", "track"), ("swanlab", "track"), ("tensorboard", "server")]
)
def test_a_tracker_that_is_not_installed_is_refused(tracker, extra, monkeypatch):
    require_tracker(TrackConfig(enabled=True, tracker=tracker))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    require_tracker(TrackConfig(tracker=tracker))
    with pytest.raises(UsageError, match=rf"{tracker}, which is not .*'plugrl\[{extra}\]'"):
        require_tracker(TrackConfig(enabled=True, tracker=tracker))


def test_a_tracker_whose_own_needs_are_missing_is_refused(monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda n: None if n == "torch" else find(n))
    with pytest.raises(UsageError, match=r"tensorboard needs the package torch, which is not"):
        require_tracker(TrackConfig(enabled=True, tracker="tensorboard"))


def test_the_trackers_are_imported_only_when_they_are_used():
    code = (
        "import sys, plugrl.training.tracking.assembly\n"
        "print([m for m in ('wandb', 'swanlab', 'tensorboard', 'torch') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
