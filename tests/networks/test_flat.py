import torch
from torch import nn

from plugrl.networks.flat import flatten_parameters


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
