import pytest
import torch
from torch import nn

from plugrl.networks.flat import clipped_gradient, flatten_parameters


def module() -> nn.Module:
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))


def test_the_module_computes_what_it_computed_before() -> None:
    net, x = module(), torch.randn(5, 3)
    before = net(x)
    flatten_parameters(net)
    assert torch.equal(net(x), before)


def test_a_change_of_the_flat_tensor_is_a_change_of_the_module() -> None:
    net = module()
    flat = flatten_parameters(net)
    with torch.no_grad():
        flat.zero_()
    assert (net(torch.randn(5, 3)) == 0).all()


def test_backward_adds_into_the_flat_gradient_in_the_order_of_the_parameters() -> None:
    net = module()
    x = torch.randn(5, 3)
    expected = torch.autograd.grad(net(x).sum(), list(net.parameters()))
    flat = flatten_parameters(net)
    net(x).sum().backward()
    assert flat.grad is not None
    torch.testing.assert_close(flat.grad, torch.cat([g.reshape(-1) for g in expected]))


def test_loading_a_state_dict_keeps_the_tie() -> None:
    net = module()
    flat = flatten_parameters(net)
    net.load_state_dict(module().state_dict())
    assert torch.equal(flat, torch.cat([p.detach().reshape(-1) for p in net.parameters()]))


def test_a_long_gradient_is_scaled_down_to_the_bound() -> None:
    net, flat = flattened()
    norm = clipped_gradient(1e3 * net(torch.ones(5, 3)).sum(), flat, max_norm=0.1)
    assert flat.grad is not None
    assert norm > 0.1
    assert torch.linalg.vector_norm(flat.grad).item() == pytest.approx(0.1, rel=1e-4)


def test_a_short_gradient_is_left_as_it_is_and_replaces_the_one_before() -> None:
    net, flat = flattened()
    for _ in range(2):
        norm = clipped_gradient(1e-3 * net(torch.ones(5, 3)).mean(), flat, max_norm=0.5)
        assert flat.grad is not None
        assert torch.linalg.vector_norm(flat.grad) == norm


def flattened() -> tuple[nn.Module, nn.Parameter]:
    net = module()
    return net, flatten_parameters(net)
