import json
from typing import Any

import pytest

from flows import artifacts
from plugrl.cli.supervision import Ending, Outcome
from plugrl.runs import records
from plugrl.runs.records import Checkpoint, RunRecord, RunState, RunStatus
from plugrl.training.step_folder import write_step

DONE = Ending(attempt=1, outcome=Outcome.DONE, exit_code=0)


@pytest.fixture
def shown(monkeypatch) -> dict[str, Any]:
    """What Prefect is asked to show, by key."""
    made: dict[str, Any] = {}

    async def create(data: object, *, key: str, description: str | None = None) -> None:
        made[key] = data

    for name in ("acreate_table_artifact", "acreate_markdown_artifact"):
        monkeypatch.setattr(artifacts, name, create)
    return made


@pytest.mark.parametrize(
    ("step", "total", "percentage"),
    [(0, 100, 0.0), (50, 200, 25.0), (104, 100, 100.0), (5, None, None)],
)
def test_progress_is_the_part_of_the_steps_and_never_more_than_all(
    tmp_path, step, total, percentage
):
    status = RunStatus(state=RunState.RUNNING, step=step, total_steps=total)
    records.write_status(tmp_path, status)
    assert artifacts.percentage(tmp_path) == percentage


def test_a_run_without_a_status_has_no_progress(tmp_path):
    assert artifacts.percentage(tmp_path) is None


async def test_the_result_says_how_it_ended_and_where_everything_is(tmp_path, shown):
    status = RunStatus(
        state=RunState.DONE,
        step=2048,
        total_steps=2000,
        attempt=3,
        last_checkpoint=Checkpoint(path="/x/2048", step=2048),
    )
    records.write_status(tmp_path, status)
    record = RunRecord(
        exp_name="x",
        policy="p",
        policy_variant="default",
        algorithm="a",
        algorithm_variant="default",
        argv=("plugrl-flow", "train", "p"),
    )
    records.write_run(tmp_path, record)
    await artifacts.result(tmp_path, DONE)
    page = str(shown["result"])
    for part in ("done", "2,048 of 2,000", "| attempts | 3 |", "/x/2048", "plugrl-flow train p"):
        assert part in page


async def test_the_checkpoints_are_a_table_and_none_where_they_cannot_be_read(
    tmp_path, shown, monkeypatch, caplog
):
    write_step(tmp_path, 7, {}, {"step": 7, "saved_at": "then", "metrics": {}})
    await artifacts.checkpoints(tmp_path)
    assert [(row["step"], row["valid"]) for row in shown.pop("checkpoints")] == [(7, True)]

    def vanished(run_dir: object) -> None:
        raise OSError(116, "Stale file handle")

    monkeypatch.setattr(artifacts, "summaries", vanished)
    await artifacts.checkpoints(tmp_path)
    assert shown == {}
    assert "Stale file handle" in caplog.text


async def test_a_run_that_left_nothing_has_a_page_all_the_same(tmp_path, shown):
    ending = Ending(attempt=1, outcome=Outcome.REFUSED, exit_code=2, reason="no such device")
    await artifacts.result(tmp_path, ending)
    assert "no such device" in str(shown["result"])


async def test_an_evaluation_shows_its_last_numbers(tmp_path, shown):
    lines = [{"step": 1, "fps": 3.0}, {"step": 2, "eval/return_mean": 4.5}]
    (tmp_path / "metrics.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    await artifacts.evaluation(tmp_path, "/x/5")
    assert shown["evaluation"] == [{"metric": "eval/return_mean", "value": 4.5}]


async def test_an_evaluation_that_left_no_numbers_shows_an_empty_table(tmp_path, shown):
    await artifacts.evaluation(tmp_path, "/x/5")
    assert shown["evaluation"] == []
