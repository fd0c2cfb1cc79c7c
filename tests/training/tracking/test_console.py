import io

import pytest
from rich.console import Console

from plugrl.training.tracking.console import ConsoleSink, format_metric

METRICS = {
    "rollout/episode_return_mean": 312.4567,
    "rollout/num_episodes": 1234.0,
    "train/policy_loss": -0.012345,
    "time/fps": 1830.2,
    "time/eta_s": 3661.0,
}


def shown(run, *, terminal: bool) -> str:
    console = Console(file=io.StringIO(), force_terminal=terminal, width=60, color_system=None)
    sink = ConsoleSink(run, console)
    sink.write(2048, METRICS)
    sink.close()
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_without_a_terminal_a_learn_is_one_plain_line(tracked):
    assert shown(tracked(total_steps=1_000_000), terminal=False) == (
        "step 2,048/1,000,000 (0%) | return 312.5 | episodes 1,234 | fps 1,830 | eta 1:01:01\n"
    )
    assert shown(tracked(), terminal=False).startswith("step 2,048 |")


def test_on_a_terminal_a_learn_is_a_table_of_all_metrics_by_group(tracked):
    table = shown(tracked(total_steps=1_000_000), terminal=True)
    for word in (
        "exp",
        "2,048/1,000,000",
        "return",
        "policy_loss",
        "-0.01235",
        "1:01:01",
    ):
        assert word in table
    assert len(table.splitlines()) < 9


def test_a_table_begins_with_how_the_run_goes_and_never_passes_its_end(tracked):
    table = shown(tracked(total_steps=2000), terminal=True)
    words = ["2,048/2,000 (100%)", "return", "episodes", "fps", "eta", "train"]
    places = [table.index(word) for word in words]
    assert places == sorted(places)


def test_learns_in_quick_succession_are_shown_first_and_last(tracked):
    console = Console(file=io.StringIO(), force_terminal=False, width=60)
    sink = ConsoleSink(tracked(), console)
    for step in range(1, 1000):
        sink.write(step, METRICS)
    sink.close()
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    assert lines[0].startswith("step 1 |")
    assert lines[-1].startswith("step 999 |")
    assert len(lines) < 10


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("x", 3.0, "3"),
        ("x", 1234567.8, "1,234,568"),
        ("x", 0.000123456, "0.0001235"),
        ("x", float("nan"), "nan"),
        ("x", float("-inf"), "-inf"),
        ("time/elapsed_s", 59.6, "0:01:00"),
        ("time/eta_s", 90_000.0, "1 day, 1:00:00"),
    ],
)
def test_numbers_are_made_for_people(name, value, text):
    assert format_metric(name, value) == text
