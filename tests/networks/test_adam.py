import torch

from plugrl.networks.adam import FlatAdam


def parameters(seed: int = 0) -> torch.nn.Parameter:
    flat = torch.nn.Parameter(torch.randn(6, generator=torch.Generator().manual_seed(seed)))
    flat.grad = torch.zeros_like(flat)
    return flat


def gradient(step: int) -> torch.Tensor:
    return torch.randn(6, generator=torch.Generator().manual_seed(100 + step))


def test_it_takes_the_steps_of_torchs_adam() -> None:
    ours, theirs = parameters(), parameters()
    assert ours.grad is not None
    flat = FlatAdam(ours, eps=1e-5)
    reference = torch.optim.Adam([theirs], eps=1e-5)
    for step in range(20):
        ours.grad.copy_(gradient(step))
        theirs.grad = gradient(step)
        reference.param_groups[0]["lr"] = 0.01 / (1 + step)
        flat.step(0.01 / (1 + step))
        reference.step()
    torch.testing.assert_close(ours, theirs)


def test_it_goes_on_bit_for_bit_from_its_state() -> None:
    straight, resumed = parameters(), parameters()
    assert straight.grad is not None
    assert resumed.grad is not None
    first, second = FlatAdam(straight, eps=1e-5), FlatAdam(resumed, eps=1e-5)
    straight.grad.copy_(gradient(0))
    first.step(0.01)
    with torch.no_grad():
        resumed.copy_(straight)
    second.load_state(first.state())
    straight.grad.copy_(gradient(1))
    resumed.grad.copy_(gradient(1))
    first.step(0.01)
    second.step(0.01)
    assert torch.equal(straight, resumed)


def test_its_state_is_a_copy() -> None:
    flat = parameters()
    assert flat.grad is not None
    adam = FlatAdam(flat, eps=1e-5)
    before = adam.state()
    flat.grad.copy_(gradient(0))
    adam.step(0.01)
    assert (before["adam.mean"] == 0).all()
