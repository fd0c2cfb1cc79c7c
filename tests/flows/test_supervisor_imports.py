"""A supervisor lives as long as its run: it is light."""

import subprocess
import sys

HEAVY = ("torch", "numpy", "gymnasium", "mujoco")
SUPERVISE = """
import sys
import flows.train, flows.train_command
from flows.plans import train_plan
from flows.supervised import SupervisedRun

plan = train_plan(("gaussian-policy", "default", "ppo", "default", "--env", "hopper"))
run = SupervisedRun(plan)
run.server(1, None), run.clients("ws://127.0.0.1:1"), run.newest_step()
print(*(name for name in {heavy!r} if name in sys.modules))
"""


def test_a_supervisor_imports_nothing_that_computes(tmp_path):
    command = [sys.executable, "-c", SUPERVISE.format(heavy=HEAVY)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr
