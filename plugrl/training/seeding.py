"""Seeds of everything random in the server's process."""

import random
import sys

import numpy as np


def seed_everything(seed: int) -> None:
    """Seed Python's and NumPy's global generators, and torch's where anybody has imported it.

    Args:
        seed: 0 to 4294967295, the range that NumPy takes.
    """
    random.seed(seed)
    np.random.seed(seed)
    if "torch" in sys.modules:
        import torch

        torch.manual_seed(seed)
