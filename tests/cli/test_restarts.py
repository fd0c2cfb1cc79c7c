import pytest

from plugrl.cli.restarts import JITTER, MAX_DELAY_S, RestartBudget, RestartConfig
from plugrl.errors import ConfigError


def test_pauses_double_until_the_budget_is_spent():
    budget = RestartBudget(RestartConfig(retries=3, retry_delay=2.0))
    pauses = [budget.spend(None) for _ in range(4)]
    for pause, least in zip(pauses[:3], (2.0, 4.0, 8.0), strict=True):
        assert pause is not None
        assert least <= pause <= least * (1 + JITTER)
    assert pauses[3] is None


def test_a_new_checkpoint_makes_the_budget_whole():
    budget = RestartBudget(RestartConfig(retries=1))
    assert budget.spend(10) is not None
    assert budget.spend(20) is not None
    assert budget.spend(20) is None


def test_no_pause_is_longer_than_the_limit():
    budget = RestartBudget(RestartConfig(retries=100, retry_delay=50.0))
    pauses = [budget.spend(None) for _ in range(100)]
    assert pauses[-1] == MAX_DELAY_S


@pytest.mark.parametrize("wrong", [{"retries": -1}, {"retry_delay": -1.0}, {"retry_delay": 61.0}])
def test_values_out_of_range_are_refused(wrong):
    with pytest.raises(ConfigError):
        RestartConfig(**wrong)
