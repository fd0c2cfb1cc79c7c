from plugrl.cli.table import columns


def test_columns_are_as_wide_as_their_widest_cell():
    rows = [("A", "BB", "C"), ("long", "b", ""), ("x", "y", "z")]
    assert columns(rows, indent=1) == " A     BB  C\n long  b\n x     y   z"
