from plugrl.training.tracking.run_id import tracker_run_id


def test_a_folder_keeps_its_id_and_another_has_another(tmp_path):
    (tmp_path / "other").mkdir()
    first = tracker_run_id(tmp_path)
    assert tracker_run_id(tmp_path) == first
    assert tracker_run_id(tmp_path / "other") != first
