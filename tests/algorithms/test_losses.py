import pytest
import torch

from plugrl.algorithms import losses


def test_the_surrogate_by_hand() -> None:
    ratio = torch.tensor([1.5, 1.5, 0.5, 0.5, 1.1])
    advantages = torch.tensor([1.0, -1.0, 1.0, -1.0, 2.0])
    # kept: min(1.5, 1.2), min(-1.5, -1.2), min(0.5, 0.8), min(-0.5, -0.8), 2.2
    expected = -(1.2 - 1.5 + 0.5 - 0.8 + 2.2) / 5
    assert losses.clipped_surrogate(ratio, advantages, 0.2).item() == pytest.approx(expected)


def test_the_surrogate_has_no_gradient_where_the_clip_binds() -> None:
    ratio = torch.tensor([1.5, 1.5, 0.5, 0.5], requires_grad=True)
    losses.clipped_surrogate(ratio, torch.tensor([1.0, -1.0, 1.0, -1.0]), 0.2).backward()
    assert ratio.grad is not None
    assert ratio.grad.tolist() == [0, 0.25, -0.25, 0]


def test_the_value_loss_is_half_the_mean_square() -> None:
    loss = losses.value_loss(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 2.0]))
    assert loss.item() == 1.0


def test_the_clipped_value_loss_takes_the_larger_error() -> None:
    values, old = torch.tensor([1.0, 1.0]), torch.tensor([0.0, 0.9])
    returns = torch.tensor([1.0, 0.0])
    # clipped values 0.2 and 1.0: errors max(0, 0.64), max(1, 1)
    loss = losses.clipped_value_loss(values, old, returns, 0.2)
    assert loss.item() == pytest.approx(0.5 * (0.64 + 1) / 2)


def test_the_kl_estimate_is_zero_for_equal_policies_and_never_negative() -> None:
    assert losses.approximate_kl(torch.zeros(5)).item() == 0
    assert (torch.linspace(-2, 2, 41).expm1() - torch.linspace(-2, 2, 41) >= 0).all()


def test_the_kl_estimate_is_the_kl_of_two_normals() -> None:
    x = torch.randn(200_000, generator=torch.Generator().manual_seed(0))
    log_ratio = 0.5 * x**2 - 0.5 * (x - 0.3) ** 2  # N(0.3, 1) over N(0, 1), samples of N(0, 1)
    assert losses.approximate_kl(log_ratio).item() == pytest.approx(0.3**2 / 2, rel=0.03)


def test_the_clip_fraction_counts_both_sides() -> None:
    log_ratio = torch.tensor([1.5, 0.5, 1.1, 0.9]).log()
    assert losses.clip_fraction(log_ratio, 0.2).item() == 0.5


def test_standardized_advantages_have_mean_0_and_deviation_1() -> None:
    advantages = losses.standardize(torch.tensor([1.0, 5.0]))
    torch.testing.assert_close(advantages, torch.tensor([-0.5, 0.5]) * 2**0.5)


def test_explained_variance_is_one_for_a_perfect_critic_and_zero_for_a_constant() -> None:
    returns = torch.tensor([1.0, 2.0, 4.0])
    assert losses.explained_variance(returns, returns).item() == 1
    assert losses.explained_variance(torch.full((3,), 7.0), returns).item() == 0
