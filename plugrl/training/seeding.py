"""Seeds of everything random in the server's process."""

import random

import numpy as np


def seed_everything(seed: int) -> None:
    """Seed Python's, NumPy's and torch's global generators.

    Args:
        seed: 0 to 4294967295, the range that NumPy takes.
    """
    import torch

    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
