import pytest

from plugrl_tui.widgets.editor import PathSuggester


async def test_a_path_is_completed_from_the_disk(tmp_path):
    (tmp_path / "checkpoints").mkdir()
    suggestion = await PathSuggester().get_suggestion(f"{tmp_path}/che")
    assert suggestion == f"{tmp_path}/checkpoints/"


@pytest.mark.parametrize("text", ["~no-such-user", "~no-such-user/", "/" + "a" * 300 + "/", "a\0/"])
async def test_what_is_no_path_is_not_completed(text):
    assert await PathSuggester().get_suggestion(text) is None
