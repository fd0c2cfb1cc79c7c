from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from plugrl.training.tracking.tensorboard import TensorBoardSink


def points(run_dir, name: str) -> list[tuple[int, float]]:
    events = EventAccumulator(str(run_dir / "tensorboard"))
    events.Reload()
    return [(event.step, event.value) for event in events.Scalars(name)]


def test_what_is_written_is_read_back_from_the_event_file(tracked, tmp_path):
    sink = TensorBoardSink(tracked())
    sink.write(10, {"train/loss": 0.5, "rollout/episode_return_mean": 2.0})
    sink.write(20, {"train/loss": 0.25})
    sink.close()
    assert points(tmp_path, "train/loss") == [(10, 0.5), (20, 0.25)]
    assert points(tmp_path, "rollout/episode_return_mean") == [(10, 2.0)]


def test_after_a_resume_the_superseded_points_are_gone(tracked, tmp_path):
    for run, value in ((tracked(), 1.0), (tracked(resumed=True, start_step=10), 2.0)):
        sink = TensorBoardSink(run)
        for step in (10, 20):
            sink.write(run.start_step + step, {"x": value})
        sink.close()
    assert points(tmp_path, "x") == [(10, 1.0), (20, 2.0), (30, 2.0)]
