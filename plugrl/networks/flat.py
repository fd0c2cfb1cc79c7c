"""A module's parameters as views of one tensor, so that a norm or an Adam step touches only one."""

import torch
from torch import nn


def flatten_parameters(module: nn.Module) -> nn.Parameter:
    """Lay all parameters of ``module``, and their gradients, end to end in one tensor.

    The module goes on working as before: its parameters become views of the result, and
    ``backward`` adds into views of the result's ``grad``. Clear it with ``grad.zero_()``: setting
    a gradient to None would cut the tie.

    Returns:
        (P,), in the order of ``module.parameters()``, P their total size.
    """
    parameters = list(module.parameters())
    flat = nn.Parameter(torch.cat([p.detach().reshape(-1) for p in parameters]))
    flat.grad = torch.zeros_like(flat)
    sizes = [p.numel() for p in parameters]
    for parameter, data, grad in zip(
        parameters, torch.split(flat.detach(), sizes), torch.split(flat.grad, sizes), strict=True
    ):
        parameter.data = data.view_as(parameter)
        parameter.grad = grad.view_as(parameter)
    return flat


def clipped_gradient(loss: torch.Tensor, flat: nn.Parameter, *, max_norm: float) -> torch.Tensor:
    """Make ``flat.grad`` the gradient of ``loss``, scaled down to ``max_norm`` where it is longer.

    Args:
        loss: ().
        flat: (P,) as ``flatten_parameters`` returns it.
        max_norm: bound of the gradient's norm over all parameters.

    Returns:
        () the norm before scaling.
    """
    grad = flat.grad
    assert grad is not None
    grad.zero_()
    torch.autograd.backward(loss)
    norm: torch.Tensor = torch.linalg.vector_norm(grad)
    grad.mul_((max_norm / (norm + 1e-6)).clamp_(max=1.0))
    return norm
