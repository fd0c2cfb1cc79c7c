import pytest

from plugrl.algorithms.kl_control import KLControl


def test_without_limits_it_is_not_active() -> None:
    control = KLControl(target=None, adaptive=None)
    assert not control.active
    assert not control.too_far(1e9)
    control.adapt(1e9)
    assert control.rate_factor == 1


def test_the_epochs_are_left_beyond_one_and_a_half_times_the_target() -> None:
    control = KLControl(target=0.02, adaptive=None)
    assert control.active
    assert not control.too_far(0.0299)
    assert control.too_far(0.0301)


@pytest.mark.parametrize(
    ("kl", "factor"), [(0.0201, 1 / 1.5), (0.0199, 1.0), (0.0051, 1.0), (0.0049, 1.5)]
)
def test_the_rate_is_scaled_where_the_kl_is_off_by_more_than_two(kl: float, factor: float) -> None:
    control = KLControl(target=None, adaptive=0.01)
    control.adapt(kl)
    assert control.rate_factor == pytest.approx(factor)


@pytest.mark.parametrize(("kl", "limit"), [(1.0, 1 / 30), (0.0, 30.0)])
def test_the_rate_is_carried_no_further_than_a_limit(kl: float, limit: float) -> None:
    control = KLControl(target=None, adaptive=0.01)
    for _ in range(50):
        control.adapt(kl)
    assert control.rate_factor == pytest.approx(limit)
