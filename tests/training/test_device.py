import pytest
import torch

from plugrl.errors import UsageError
from plugrl.training.device import require_device


def test_the_cpu_is_always_there_with_the_threads_asked_for():
    require_device("cpu", num_threads=2)
    assert torch.get_num_threads() == 2
    require_device("cpu", num_threads=1)
    assert torch.get_num_threads() == 1


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a CUDA device")
def test_a_missing_cuda_device_is_one_sentence_that_names_what_there_is():
    with pytest.raises(UsageError, match=r"got 'cuda' .* at --policy.device; use one of cpu"):
        require_device("cuda", num_threads=1)


def test_a_device_that_torch_does_not_know_is_refused():
    with pytest.raises(UsageError, match="got 'gpu'"):
        require_device("gpu", num_threads=1)
