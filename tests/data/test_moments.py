import json

import numpy as np

from plugrl.data.moments import Moments


def test_batches_of_any_size_give_the_moments_of_all_rows() -> None:
    rows = np.random.default_rng(0).normal(3.0, 2.0, size=(1000, 4))
    moments = Moments.empty((4,))
    for batch in np.split(rows, [1, 2, 50, 700]):
        moments = moments.including(batch)
    np.testing.assert_allclose(moments.mean, rows.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(moments.var, rows.var(axis=0), rtol=1e-12)


def test_two_batches_by_hand() -> None:
    moments = Moments(np.array(1.0), np.array(4.0), 2.0).including(np.array([5.0, 7.0]))
    # rows -1, 3, 5, 7: mean 3.5, squared distances 20.25 + 0.25 + 2.25 + 12.25
    assert moments.mean == 3.5
    assert moments.var == 35 / 4
    assert moments.count == 4.0


def test_before_the_first_row_it_is_mean_0_and_variance_1() -> None:
    moments = Moments.empty((2,))
    assert moments.mean.tolist() == [0, 0]
    assert moments.var.tolist() == [1, 1]


def test_one_row_has_no_variance() -> None:
    moments = Moments.empty().including(np.array([0.5]))
    assert moments.mean == 0.5
    assert moments.var == 0.0


def test_a_large_offset_costs_no_precision() -> None:
    rows = np.random.default_rng(0).normal(1e6, 1.0, size=2000)
    moments = Moments.empty()
    for batch in np.split(rows, [1, 10, 1000]):
        moments = moments.including(batch)
    np.testing.assert_allclose(moments.var, rows.var(), rtol=1e-9)


def test_its_state_is_json_and_comes_back_to_the_last_bit() -> None:
    moments = Moments.empty((3,)).including(np.random.default_rng(0).normal(size=(7, 3)))
    again = Moments.from_state(json.loads(json.dumps(moments.state())))
    assert np.array_equal(again.mean, moments.mean)
    assert np.array_equal(again.var, moments.var)
    assert again.count == moments.count
