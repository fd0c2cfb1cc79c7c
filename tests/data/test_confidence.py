import numpy as np
import pytest

from plugrl.data.confidence import mean_interval, student_t_quantile


@pytest.mark.parametrize(
    ("confidence", "dof", "table"),
    [
        (0.95, 1, 12.706),
        (0.95, 2, 4.303),
        (0.95, 3, 3.182),
        (0.99, 5, 4.032),
        (0.95, 9, 2.262),
        (0.90, 10, 1.812),
        (0.95, 1000, 1.962),
    ],
)
def test_quantiles_are_those_of_the_printed_tables(
    confidence: float, dof: int, table: float
) -> None:
    assert student_t_quantile(confidence, dof) == pytest.approx(table, abs=6e-4)


def test_the_interval_of_three_samples_by_hand() -> None:
    low, high = mean_interval([1.0, 2.0, 3.0], 0.95)
    assert (low, high) == pytest.approx((2 - 4.3027 / 3**0.5, 2 + 4.3027 / 3**0.5), abs=1e-3)


def test_the_interval_holds_the_true_mean_as_often_as_it_claims() -> None:
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(1000):
        low, high = mean_interval(rng.normal(7.0, 2.0, size=5).tolist(), 0.9)
        hits += low < 7.0 < high
    assert 0.87 < hits / 1000 < 0.93
