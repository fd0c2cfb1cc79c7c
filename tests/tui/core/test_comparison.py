"""Curves on a common axis."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from plugrl.errors import UsageError
from plugrl_tui.core import comparison
from plugrl_tui.core.comparison import Axis, Compared
from plugrl_tui.core.curves import RETURN
from plugrl_tui.core.svg_chart import Line, svg
from tests.tui.run_folders import make_run, write_returns

pytestmark = pytest.mark.usefixtures("own_home")


def runs(tmp_path: Path, *returns: list[float]) -> list[Compared]:
    folders = []
    for place, values in enumerate(returns):
        folder = make_run(tmp_path, f"run-{place}", config={"algo": {"gamma": place}})
        write_returns(folder, values, every=100 * (place + 1))
        folders.append(folder)
    found = comparison.compared(folders)
    for run in found:
        run.read()
    return found


def test_the_axis_has_room_for_all(tmp_path: Path) -> None:
    two = runs(tmp_path, [1.0, 2.0], [1.0, 2.0, 3.0])
    steps = comparison.axis(two, RETURN, over_time=False)
    assert steps == Axis(over_time=False, first=100, last=600)
    seconds = comparison.axis(two, RETURN, over_time=True)
    assert seconds == Axis(over_time=True, first=0.0, last=20.0)
    assert comparison.axis(two, "no/such", over_time=False) is None


def test_a_curve_stands_where_its_steps_are_and_ends_where_they_end(tmp_path: Path) -> None:
    two = runs(tmp_path, [1.0, 2.0], [5.0, 6.0, 7.0])
    axis = comparison.axis(two, RETURN, over_time=False)
    assert axis is not None
    short = comparison.columns(two[0], RETURN, axis, 5, 0.0)
    assert [e and tuple(e) for e in short] == [(1.0, 2.0), (2.0, 2.0), None, None, None]
    long = comparison.columns(two[1], RETURN, axis, 5, 0.0)
    assert [e and tuple(e) for e in long] == [
        (5.0, 5.0),
        (5.0, 5.0),
        (6.0, 6.0),
        (6.0, 6.0),
        (7.0, 7.0),
    ]


def test_runs_are_held_still_only_while_none_is_read(tmp_path: Path) -> None:
    two = runs(tmp_path, [1.0], [2.0])
    with comparison.held(two) as ours:
        assert ours
        assert two[0].lock.locked()
    with two[1].lock, comparison.held(two) as ours:
        assert not ours
    assert not two[0].lock.locked()


def test_files_are_written_of_runs_that_nobody_reads_just_then(tmp_path: Path) -> None:
    two = runs(tmp_path, [1.0], [2.0])
    with ThreadPoolExecutor(1) as pool:
        with two[1].lock:
            text = pool.submit(comparison.csv_text, two)
            with pytest.raises(TimeoutError):
                text.result(0.1)
        assert "run-1,200,10.0,rollout/episode_return_mean,2.0" in text.result(30)


def test_differences_name_only_what_differs(tmp_path: Path) -> None:
    told = {d.name: d for d in comparison.differences(runs(tmp_path, [1.0], [2.0]))}
    assert told["algo.gamma"].values == ("0", "1")
    assert told["algo.gamma"].differs
    assert told["return"].values == ("1.00", "2.00")
    assert not told["algorithm"].differs


@pytest.mark.parametrize("number", [0, 1, 5])
def test_too_few_and_too_many_are_refused(tmp_path: Path, number: int) -> None:
    with pytest.raises(UsageError, match=f"expected 2 to 4 runs to compare, got {number}"):
        comparison.compared([tmp_path] * number)


def test_a_picture_escapes_names_and_draws_a_constant() -> None:
    text = svg([Line("a<b", [(0, 1.0), (10, 1.0)]), Line("none", [])], title="r", x_label="steps")
    assert "a&lt;b" in text
    assert 'points="64.0,' in text
    assert 'points=""' in text
