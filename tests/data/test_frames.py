from collections.abc import Callable

import numpy as np

from plugrl.data.frames import Frames, Tree, info_rows, tree_map


def test_rows_cuts_every_part_along(make_frames: Callable[..., Frames]) -> None:
    frames = make_frames(
        [5, 6, 7], [1, 2, 3], done=[0, 1, 0], info={"episode": {"r": np.array([7, 8, 9])}}
    ).rows(slice(1, 3))
    assert len(frames) == 2
    assert frames.streams.tolist() == [6, 7]
    assert frames.rewards.tolist() == [2, 3]
    assert frames.next_terminated.tolist() == [True, False]
    assert frames.obs.states["x"].tolist() == [[1], [2]]
    assert frames.step_state["tag"].tolist() == [1, 2]
    assert frames.info["episode"]["r"].tolist() == [8, 9]


def test_tree_map_keeps_the_form_of_the_tree() -> None:
    tree: Tree = {"a": [np.array([1]), None], "b": (np.array([2]), {})}
    assert tree_map(lambda a: int(a[0]) * 10, tree) == {"a": [10, None], "b": (20, {})}


def test_info_rows_leaves_scalars_and_strings_alone() -> None:
    info = {"n": 3, "name": "hopper", "x": np.array([1, 2]), "zero_d": np.array(5)}
    cut = info_rows(info, np.array([1]))
    assert cut["n"] == 3
    assert cut["name"] == "hopper"
    assert cut["x"].tolist() == [2]
    assert cut["zero_d"] == 5
