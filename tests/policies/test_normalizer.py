import numpy as np
import torch

from plugrl.policies.normalizer import Normalizer


def test_fresh_it_changes_nothing_but_clips() -> None:
    x = torch.tensor([[0.5, -20.0]])
    torch.testing.assert_close(Normalizer(2, clip=10.0)(x), torch.tensor([[0.5, -10.0]]))


def test_after_an_update_the_rows_have_mean_0_and_deviation_1() -> None:
    normalizer = Normalizer(3, clip=10.0)
    rows = torch.randn(1000, 3) * torch.tensor([1.0, 5.0, 0.1]) + torch.tensor([0.0, 3.0, -2.0])
    normalizer.update(rows)
    scaled = normalizer(rows)
    torch.testing.assert_close(scaled.mean(0), torch.zeros(3), atol=1e-5, rtol=0)
    torch.testing.assert_close(scaled.std(0, correction=0), torch.ones(3), atol=1e-4, rtol=0)


def test_two_updates_are_one_of_all_rows() -> None:
    once, twice = Normalizer(2, clip=10.0), Normalizer(2, clip=10.0)
    rows = torch.randn(50, 2)
    once.update(rows)
    twice.update(rows[:7])
    twice.update(rows[7:])
    torch.testing.assert_close(once.mean, twice.mean)
    torch.testing.assert_close(once.var, twice.var)


def test_its_moments_are_in_the_state_dict() -> None:
    normalizer, other = Normalizer(2, clip=10.0), Normalizer(2, clip=10.0)
    normalizer.update(torch.randn(50, 2))
    other.load_state_dict(normalizer.state_dict())
    x = torch.randn(4, 2)
    assert torch.equal(normalizer(x), other(x))
    assert other.count == 50


def test_a_component_that_never_varies_does_not_blow_up() -> None:
    normalizer = Normalizer(1, clip=10.0)
    normalizer.update(torch.full((5, 1), 3.0))
    assert normalizer(torch.full((1, 1), 3.0)).item() == 0.0
    assert np.isfinite(normalizer(torch.full((1, 1), 4.0)).item())
