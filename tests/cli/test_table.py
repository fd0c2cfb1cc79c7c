from plugrl.cli.table import columns, harmless, terminal_width


def test_columns_are_as_wide_as_their_widest_cell():
    rows = [("A", "BB", "C"), ("long", "b", ""), ("x", "y", "z")]
    assert columns(rows, indent=1) == " A     BB  C\n long  b\n x     y   z"


def test_a_long_last_column_is_wrapped_between_words():
    rows = [("a", "one two three four five"), ("bb", "")]
    assert columns(rows, indent=2, width=29) == "  a   one two three four five\n  bb"
    assert columns(rows, indent=2, width=28) == "  a   one two three four\n      five\n  bb"


def test_a_column_with_no_room_is_left_to_the_terminal():
    assert columns([("a" * 10, "one two")], width=20) == f"{'a' * 10}  one two"


def test_no_cell_moves_the_cursor_or_begins_a_line_of_its_own():
    assert columns([("a\x1b[31m", "b\nc"), ("é", "\r")]) == "a·[31m  b·c\né       ·"


def test_what_is_no_terminal_has_no_width(capsys):
    assert terminal_width() == 0


def test_nothing_that_a_terminal_obeys_is_left():
    text = "a\x1b]52;c;aGk=\x07b\x9b31mc\r\nd\u2028é…\ud800"
    cleaned = harmless(text)
    assert cleaned == "a·]52;c;aGk=·b·31mc··d·é…·"
    assert len(cleaned) == len(text)
