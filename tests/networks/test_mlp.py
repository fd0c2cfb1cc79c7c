import torch
from torch import nn

from plugrl.networks.mlp import MLP


def linears(net: MLP) -> list[nn.Linear]:
    return [layer for layer in net.layers if isinstance(layer, nn.Linear)]


def gram(weight: torch.Tensor) -> torch.Tensor:
    rows = weight if weight.shape[0] <= weight.shape[1] else weight.T
    return rows @ rows.T


def test_hidden_weights_are_orthogonal_with_gain_sqrt_2() -> None:
    net = MLP((5, 8, 8, 3), activation="tanh", output_gain=0.01)
    first, second, _ = (layer.weight.detach() for layer in linears(net))
    torch.testing.assert_close(gram(first), 2 * torch.eye(5))
    torch.testing.assert_close(gram(second), 2 * torch.eye(8))


def test_output_weights_are_orthogonal_with_the_gain_asked_for() -> None:
    net = MLP((5, 8, 3), activation="tanh", output_gain=0.01)
    torch.testing.assert_close(gram(linears(net)[-1].weight.detach()), 1e-4 * torch.eye(3))


def test_biases_start_at_zero() -> None:
    net = MLP((5, 8, 3), activation="relu", output_gain=1.0)
    assert all((layer.bias == 0).all() for layer in linears(net))


def test_it_computes_linear_layers_with_the_nonlinearity_between_them() -> None:
    for activation, module in {"tanh": nn.Tanh(), "relu": nn.ReLU(), "elu": nn.ELU()}.items():
        net = MLP((5, 8, 4, 3), activation=activation, output_gain=1.0)
        first, second, third = linears(net)
        x = torch.randn(7, 5)
        expected = nn.Sequential(first, module, second, module, third)(x)
        torch.testing.assert_close(net(x), expected)


def test_without_hidden_layers_it_is_linear() -> None:
    net = MLP((5, 3), activation="silu", output_gain=1.0)
    x = torch.randn(2, 5)
    torch.testing.assert_close(net(2 * x), 2 * net(x))
