import torch

from plugrl.algorithms.batch import Batch


def test_minibatches_differ_by_one_row_at_most_and_hold_every_row_once() -> None:
    column = torch.arange(10.0)
    parts = Batch(*[column] * 6).permuted(torch.randperm(10)).split(4)
    assert sorted(len(part.returns) for part in parts) == [2, 2, 3, 3]
    assert sorted(torch.cat([part.returns for part in parts]).tolist()) == column.tolist()


def test_a_row_stays_together() -> None:
    column = torch.arange(10.0)
    for part in Batch(*[column] * 6).permuted(torch.randperm(10)).split(3):
        assert all(torch.equal(field, part.inputs) for field in part)
