"""The flow ``evaluate``: a checkpoint over whole episodes, and the result as an artifact."""

import shlex
from uuid import UUID

from prefect import flow, get_run_logger, task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.runtime import flow_run
from prefect.utilities.urls import url_for

from flows import artifacts
from flows.attempts import AttemptRuns, final_state
from flows.beside import tell, telling_of_errors
from flows.parameters import EvaluationParameters, Value
from flows.plans import EVALUATE_PROG, evaluation_plan
from flows.supervised import SupervisedRun
from plugrl.cli.launch_plan import LaunchPlan
from plugrl.cli.restarts import NO_RESTARTS


@flow(name="evaluate", flow_run_name="{step_dir}", persist_result=False)
async def evaluate(
    step_dir: str,
    env: str,
    imports: list[str] | None = None,
    options: dict[str, Value] | None = None,
) -> State[None]:
    """Measure a checkpoint with env clients on this machine.

    Args:
        step_dir: the checkpoint's step folder.
        env: NAME or NAME:VARIANT, any Gymnasium id, or module:EnvClass.
        imports: modules that register more names.
        options: any other flag of ``plugrl-flow evaluate`` without its dashes, such as
            {"algo.num-episodes": 100}.
    """
    run_id = UUID(flow_run.id)
    parameters = EvaluationParameters(
        step_dir=step_dir, env=env, imports=imports or [], options=options or {}
    )
    with telling_of_errors():
        plan = prepare(parameters.argv())
        url = url_for("flow-run", run_id)
        run = SupervisedRun(plan, runs=AttemptRuns(run_id), flow_run_id=run_id, flow_run_url=url)
        ending = await run.run(NO_RESTARTS)
    tell(ending)
    await run.close()
    await artifacts.evaluation(plan.run_dir, step_dir)
    return final_state(ending, resumable=False)


@task(cache_policy=NO_CACHE, persist_result=False)
def prepare(argv: list[str]) -> LaunchPlan:
    """Check all that can be checked before a process is started."""
    plan = evaluation_plan(tuple(argv))
    get_run_logger().info("%s %s", EVALUATE_PROG, shlex.join(argv))
    return plan
