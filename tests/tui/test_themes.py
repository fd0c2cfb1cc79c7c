"""What is drawn with is what the terminal takes."""

import io
import sys

import pytest

from plugrl_tui.app import PlugRLApp
from plugrl_tui.themes import AsciiFilter

pytestmark = pytest.mark.usefixtures("own_home")


@pytest.mark.parametrize(
    ("encoding", "is_ascii"), [("utf-8", False), ("latin-1", True), ("ascii", True)]
)
def test_a_terminal_without_unicode_gets_ascii_unasked(
    monkeypatch: pytest.MonkeyPatch, encoding: str, is_ascii: bool
) -> None:
    monkeypatch.setattr(sys, "__stderr__", io.TextIOWrapper(io.BytesIO(), encoding=encoding))
    filters = PlugRLApp().get_line_filters()
    assert any(isinstance(each, AsciiFilter) for each in filters) is is_ascii
