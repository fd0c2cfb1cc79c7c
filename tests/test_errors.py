import pytest

from plugrl import errors


def test_the_drawing_is_the_tree():
    lines = (errors.__doc__ or "").splitlines()
    drawn: dict[str, str] = {}
    above: list[tuple[int, str]] = []
    for line in lines:
        name = line.lstrip(" │├└─").partition(" ")[0]
        if not name.endswith("Error"):
            continue
        column = line.index(name)
        above = [(at, parent) for at, parent in above if at < column]
        drawn[name] = above[-1][1] if above else "Exception"
        above.append((column, name))
    assert drawn == {
        name: kind.__bases__[0].__name__
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, Exception)
    }


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("pppo", "unknown algorithm 'pppo', did you mean 'ppo'? (known: bc, ppo)"),
        ("q", "unknown algorithm 'q' (known: bc, ppo)"),
    ],
)
def test_an_unknown_name_comes_with_the_nearest_one_and_all_known(name, sentence):
    assert str(errors.UnknownNameError("algorithm", name, ["ppo", "bc"])) == sentence


@pytest.mark.parametrize(
    ("kind", "built_in"),
    [
        (errors.ConfigError, ValueError),
        (errors.RunExistsError, FileExistsError),
        (errors.CheckpointNotFoundError, FileNotFoundError),
    ],
)
def test_where_python_has_a_word_for_it_the_error_is_that_too(kind, built_in):
    assert issubclass(kind, built_in)
    assert issubclass(kind, errors.UsageError)
