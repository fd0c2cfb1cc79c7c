import random

import numpy as np
import torch

from plugrl.training.seeding import seed_everything


def draw() -> tuple[float, float, float]:
    return random.random(), np.random.random(), torch.rand(1).item()


def test_the_same_seed_repeats_python_numpy_and_torch():
    seed_everything(3)
    first = draw()
    seed_everything(3)
    assert draw() == first
    seed_everything(4)
    assert all(a != b for a, b in zip(draw(), first, strict=True))


def test_the_largest_seed_is_taken():
    seed_everything(2**32 - 1)
