import pytest
from prefect import get_client
from prefect.client.schemas.actions import WorkPoolCreate

from flows.deployments import deploy
from plugrl.errors import UsageError


@pytest.mark.usefixtures("prefect_api")
async def test_a_work_pool_whose_workers_start_no_processes_is_refused():
    async with get_client() as client:
        await client.create_work_pool(WorkPoolCreate(name="containers", type="docker"))
    with pytest.raises(UsageError, match="of type process, got 'containers' of type docker"):
        await deploy("train", pool="containers")
