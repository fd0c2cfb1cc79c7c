"""Metrics over steps."""

import math

from plugrl_tui.core.curves import RETURN, Curves


def test_a_resume_supersedes_what_came_after_its_step():
    curves = Curves()
    for step in (100, 200, 300):
        curves.add(step, float(step), {"loss": step / 10})
    curves.cut_after(200)
    curves.add(300, 9.0, {"loss": 99.0})
    curve = curves.get("loss")
    assert curve is not None
    assert (curve.steps, curve.values.values) == ([100, 200, 300], [10.0, 20.0, 99.0])
    assert curves.steps == [100, 200, 300]


def test_a_number_that_json_could_not_say_is_a_gap():
    curves = Curves()
    curves.add(1, 0.0, {"kl": 0.5})
    curves.add(2, 0.0, {"kl": None})
    curve = curves.get("kl")
    assert curve is not None
    assert math.isnan(curve.values.values[1])
    assert curves.last("kl") == 0.5


def test_the_return_comes_first():
    curves = Curves()
    curves.add(1, 0.0, {"train/loss": 1.0, RETURN: 2.0})
    assert curves.names() == [RETURN, "train/loss"]


def test_frames_per_learn_need_two_learns():
    curves = Curves()
    curves.add(2048, 0.0, {})
    assert curves.frames_per_learn() is None
    curves.add(4096, 0.0, {})
    assert curves.frames_per_learn() == 2048
