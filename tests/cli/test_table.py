from plugrl.cli.table import columns, terminal_width


def test_columns_are_as_wide_as_their_widest_cell():
    rows = [("A", "BB", "C"), ("long", "b", ""), ("x", "y", "z")]
    assert columns(rows, indent=1) == " A     BB  C\n long  b\n x     y   z"


def test_a_long_last_column_is_wrapped_between_words():
    rows = [("a", "one two three four five"), ("bb", "")]
    assert columns(rows, indent=2, width=29) == "  a   one two three four five\n  bb"
    assert columns(rows, indent=2, width=28) == "  a   one two three four\n      five\n  bb"


def test_a_column_with_no_room_is_left_to_the_terminal():
    assert columns([("a" * 10, "one two")], width=20) == f"{'a' * 10}  one two"


def test_what_is_no_terminal_has_no_width(capsys):
    assert terminal_width() == 0
