"""The flow ``train``: a run that survives its server.

Its recipe: prepare, supervise one server after another until all steps are trained or somebody
stops it, finish. The run's folder holds the truth; Prefect shows it.
"""

from pathlib import Path
from typing import Any
from uuid import UUID

from prefect import flow, get_client, get_run_logger, task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.runtime import flow_run
from prefect.states import Failed
from prefect.utilities.urls import url_for

from flows import artifacts
from flows.attempts import AttemptRuns, final_state, tried
from flows.beside import tell, telling_of_errors
from flows.parameters import TrainParameters, Value
from flows.plans import restarts, train_plan
from flows.supervised import SupervisedRun
from plugrl.cli.launch_plan import LaunchPlan
from plugrl.cli.supervision import Ending, Outcome


@flow(name="train", flow_run_name="{exp_name}", persist_result=False)
async def train(
    policy: str = "gaussian-policy",
    policy_variant: str = "default",
    algorithm: str = "ppo",
    algorithm_variant: str = "default",
    env: str | None = "hopper",
    exp_name: str | None = None,
    resume: bool = False,  # noqa: FBT001, FBT002 -- a form's checkbox; Prefect passes names
    imports: list[str] | None = None,
    options: dict[str, Value] | None = None,
) -> State[Any]:
    """Train a policy on this machine, over as many servers as it takes.

    Args:
        policy: the policy's name.
        policy_variant: its variant.
        algorithm: the algorithm's name.
        algorithm_variant: its variant.
        env: NAME or NAME:VARIANT, any Gymnasium id, or module:EnvClass; none only where no env
            client is started here.
        exp_name: the run's name; none makes a new one from the time.
        resume: go on from the newest valid checkpoint of exp_name.
        imports: modules that register more names.
        options: any other flag of ``plugrl-flow train`` without its dashes, such as
            {"num-procs": 2, "algo.global-steps": 1000000}.
    """
    parameters = TrainParameters(
        policy=policy,
        policy_variant=policy_variant,
        algorithm=algorithm,
        algorithm_variant=algorithm_variant,
        env=env,
        exp_name=exp_name,
        resume=resume,
        imports=imports or [],
        options=options or {},
    )
    run_id = UUID(flow_run.id)
    with telling_of_errors():
        plan = prepare(parameters.argv())
        await tried("name the run", label(run_id, plan))
        url = url_for("flow-run", run_id)
        run = SupervisedRun(plan, runs=AttemptRuns(run_id), flow_run_id=run_id, flow_run_url=url)
        async with artifacts.progress(plan.run_dir):
            ending = await run.run(restarts(plan))
    tell(ending)
    await run.close()
    await finish(str(plan.run_dir), ending)
    return verdict(ending)


@task(cache_policy=NO_CACHE, persist_result=False)
def prepare(argv: list[str]) -> LaunchPlan:
    """Check all that can be checked before a process is started."""
    plan = train_plan(tuple(argv))
    get_run_logger().info("the run's folder is %s", plan.run_dir.absolute())
    return plan


@task(cache_policy=NO_CACHE, persist_result=False)
async def finish(run_dir: str, ending: Ending) -> None:
    """Show what the run leaves."""
    await artifacts.checkpoints(Path(run_dir))
    await artifacts.result(Path(run_dir), ending)


async def label(flow_run_id: UUID, plan: LaunchPlan) -> None:
    """Give the flow run the name and the tags by which people look for it."""
    policy, _, algorithm, _ = plan.names
    async with get_client() as client:
        known = await client.read_flow_run(flow_run_id)
        env = () if plan.choice is None else (plan.choice.name,)
        tags = {*known.tags, policy, algorithm, *env, plan.exp_name}
        await client.update_flow_run(flow_run_id, name=plan.exp_name, tags=tags)


def verdict(ending: Ending) -> State[Any]:
    """The final state of the whole: it crashed no more than its last attempt, but it gave up."""
    if ending.outcome is Outcome.FAILED:
        return Failed(message=f"gave up after attempt {ending.attempt}: {ending.reason}")
    return final_state(ending)
