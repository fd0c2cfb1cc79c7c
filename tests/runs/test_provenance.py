import pytest

from plugrl.runs.provenance import Owner, Provenance, public


def test_it_comes_back_from_json_as_it_was():
    owner = Owner(pid=3, pid_started=1.5, attempt=2, flow_run_id="f")
    for provenance in (
        Provenance(),
        Provenance(argv=("plugrl", "launch"), clients={"num_envs": 4}, owner=owner),
    ):
        assert Provenance.from_json(provenance.to_json()) == provenance


@pytest.mark.parametrize("key", [("--api-key", "geheim"), ("--api-key=geheim",)])
def test_a_public_command_is_the_same_without_its_key(key):
    shown = public(["plugrl", "launch", *key, "--seed", "3"])
    assert "geheim" not in " ".join(shown)
    assert shown[:2] == ("plugrl", "launch")
    assert shown[-2:] == ("--seed", "3")
