"""The bounds of what text can claim; what else observations must be is in ``test_wire``."""

from typing import Any

import numpy as np
import pytest

from plugrl.errors import InvalidMessageError
from plugrl.protocol.observations import MAX_TEXT_BYTES, MAX_TEXT_LEN, observation


def _read(text: Any, num_rows: int) -> Any:
    fields = {"data": {"images": {}, "states": {}, "text": text}}
    return observation(fields, "data", "$", num_rows).text


def test_a_text_of_the_greatest_length_is_taken() -> None:
    longest = "a" * MAX_TEXT_LEN
    assert _read([longest], 1)[0] == longest
    assert _read(np.array([longest]), 1)[0] == longest


@pytest.mark.parametrize("make", [list, np.array])
def test_a_longer_text_is_refused(make: Any) -> None:
    with pytest.raises(InvalidMessageError, match="characters"):
        _read(make(["a" * (MAX_TEXT_LEN + 1)]), 1)


def test_one_long_text_among_many_short_ones_cannot_claim_their_product() -> None:
    num_rows = MAX_TEXT_BYTES // (4 * MAX_TEXT_LEN) + 1
    with pytest.raises(InvalidMessageError, match="bytes"):
        _read(["a" * MAX_TEXT_LEN] + [""] * (num_rows - 1), num_rows)


@pytest.mark.parametrize("text", [[], np.array([]), np.array([], np.str_)], ids=repr)
def test_no_text_at_all_may_come_as_any_empty_vector(text: Any) -> None:
    assert _read(text, 0).dtype.kind == "U"
