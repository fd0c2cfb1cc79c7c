"""The device that the networks live on, and the threads of the CPU."""

import sys

from plugrl.errors import UsageError


def require_device(device: str, *, num_threads: int) -> None:
    """Make torch ready for ``device``; on the CPU, where anybody has imported it.

    Args:
        device: as torch names it: cpu, cuda, cuda:1, ...
        num_threads: threads of an operation on the CPU.

    Raises:
        UsageError: this machine has no such device.
    """
    if device == "cpu" and "torch" not in sys.modules:
        return
    import torch

    torch.set_num_threads(num_threads)
    try:
        torch.empty(0, device=device)
        torch.Generator(device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).partition("\n")[0]
        raise UsageError(
            f"expected a device of this machine, got {device!r} ({reason}), at --policy.device; "
            f"{_available(torch.cuda.device_count())}"
        ) from error


def _available(num_cuda: int) -> str:
    names = ["cpu", *(f"cuda:{i}" for i in range(num_cuda))]
    return f"use one of {', '.join(names)}"
