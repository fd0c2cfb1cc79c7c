from plugrl.runs.provenance import Owner, Provenance


def test_it_comes_back_from_json_as_it_was():
    owner = Owner(pid=3, pid_started=1.5, attempt=2, flow_run_id="f")
    for provenance in (
        Provenance(),
        Provenance(argv=("plugrl", "launch"), clients={"num_envs": 4}, owner=owner),
    ):
        assert Provenance.from_json(provenance.to_json()) == provenance
