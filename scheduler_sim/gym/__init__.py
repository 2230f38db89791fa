"""Scheduling as environments of Gymnasium: importing this registers them.

``ENVIRONMENTS`` has their ids; docs/reference/gym.md says of each what is decided, seen and rewarded.
"""

from __future__ import annotations

from scheduler_sim.errors import SchedulerSimError

try:
    from gymnasium.envs.registration import register, registry
except ModuleNotFoundError as error:
    raise SchedulerSimError(
        "scheduler_sim.gym needs Gymnasium, which is not installed: pip install 'scheduler-sim[gym]'"
    ) from error

ENVIRONMENTS = {
    "scheduler_sim/Queue-v0": "scheduler_sim.gym.start_jobs:StartJobs",
    "scheduler_sim/Next-v0": "scheduler_sim.gym.next_job:NextJob",
    "scheduler_sim/Order-v0": "scheduler_sim.gym.orders:ChooseOrder",
    "scheduler_sim/Weights-v0": "scheduler_sim.gym.orders:ChooseWeights",
}
"""The class of each id."""

for name, home in ENVIRONMENTS.items():
    if name not in registry:
        register(id=name, entry_point=home)
