import pytest

from plugrl.client.greeting import require_same_launch, require_same_sizes
from plugrl.config.base import EnvSizes
from plugrl.config.server import LAUNCH_ID_VARIABLE
from plugrl.errors import ConnectionLostError, IncompatibleError

WALKER = EnvSizes(obs_dim=17, action_dim=6)
CARTPOLE = EnvSizes(obs_dim=4, action_dim=0, num_choices=(2,))


@pytest.mark.parametrize(
    ("sizes", "metadata"),
    [
        (WALKER, {"obs_dim": 17, "action_dim": 6, "num_choices": []}),
        (CARTPOLE, {"obs_dim": 4, "action_dim": 1, "num_choices": [2]}),
        (WALKER, {}),
        (WALKER, {"obs_dim": "11", "action_dim": True, "num_choices": 2}),
        (WALKER, {"obs_dim": 0, "action_dim": None, "num_choices": [2.0]}),
        (WALKER, {"obs_dim": -1, "action_dim": [3], "num_choices": [True]}),
    ],
)
def test_the_same_sizes_unknown_ones_and_other_forms_will_do(sizes, metadata):
    require_same_sizes(metadata, sizes)


@pytest.mark.parametrize(
    ("sizes", "metadata", "sentence"),
    [
        (WALKER, {"obs_dim": 11}, "this server wants states 11 wide in all, the env has 17;"),
        (WALKER, {"action_dim": 3}, "this server's actions are 3 wide, the env's 6;"),
        (CARTPOLE, {"action_dim": 2}, "this server's actions are 2 wide, the env's 1;"),
        (
            WALKER,
            {"num_choices": [2]},
            "this server's actions are one of [2] choices, the env's continuous;",
        ),
        (
            CARTPOLE,
            {"action_dim": 1, "num_choices": []},
            "this server's actions are continuous, the env's one of [2] choices;",
        ),
        (
            CARTPOLE,
            {"num_choices": [3]},
            "this server's actions are one of [3] choices, the env's one of [2] choices;",
        ),
    ],
)
def test_other_sizes_are_a_sentence_that_names_both(sizes, metadata, sentence):
    with pytest.raises(IncompatibleError) as info:
        require_same_sizes(metadata, sizes)
    assert str(info.value) == (
        f"{sentence} start the server for this env, or this client for the server's"
    )


@pytest.mark.parametrize(
    "metadata", [{}, {"launch_id": "b"}, {"launch_id": None}, {"launch_id": ["a"]}]
)
def test_a_client_of_a_launch_is_only_for_the_server_of_it(metadata, monkeypatch):
    monkeypatch.setenv(LAUNCH_ID_VARIABLE, "a")
    require_same_launch({"launch_id": "a"}, "127.0.0.1:8000")
    with pytest.raises(ConnectionLostError) as caught:
        require_same_launch(metadata, "127.0.0.1:8000")
    assert str(caught.value) == "expected this launch's server, got another's, at 127.0.0.1:8000"
    monkeypatch.delenv(LAUNCH_ID_VARIABLE)
    require_same_launch(metadata, "127.0.0.1:8000")
