"""With the phases of the daemon's two threads known, the plain model meets recordings to a second or two.

The phases (ms into the second, at the start of the daemon) and the turns (ms) are fitted to the millisecond
logs of the recordings; they are facts about one run of one machine, not about Slurm.
"""

from __future__ import annotations

import pytest

from tests.conftest import needs_shared
from tests.oracle.plain_slurm_clock import TimedSlurm
from tests.slurm_oracle.cases import load_case
from tests.slurm_oracle.figures import compare
from tests.slurm_oracle.plain import plain_config, plain_job, plain_ops

pytestmark = pytest.mark.interpreted

FITTED = {  # run: main's phase, backfill's phase, turn of the loop, turn of backfill, worst difference in s
    "A1_fifo_cm": (675, 208, 1004.1, 1000.7, 1),
    "D31_deps": (681, 736, 1003.0, 1000.3, 1),
    "D34_hand_nokill": (643, 288, 1002.0, 1000.6, 2),
    "D36_hand_kill": (671, 933, 1003.8, 1001.6, 1),
    "H71_multipart@r2": (913, 925, 1003.2, 1000.7, 2),
    "I85_reserve1@r2": (613, 285, 1005.9, 1000.7, 1),
    "K91_ops": (963, 709, 1002.2, 1000.5, 2),
}


@needs_shared
@pytest.mark.parametrize("name", FITTED)
def test_recorded_with_known_phases(name: str):
    main, backfill, loop, poll, worst = FITTED[name]
    case = load_case(name.split("@")[0])
    run = next(run for run in case.runs if run.name == name)
    slurm = TimedSlurm(
        plain_config(case, run, {"daemon_start": run.daemon_start}),
        [plain_job(given) for given in case.jobs],
        plain_ops(case, run),
        main_phase=main,
        backfill_phase=backfill,
        loop_turn=loop,
        poll_turn=poll,
    )
    slurm.run(20_000)
    found = compare({job.id: (job.id, job.state, job.start, job.end) for job in slurm.jobs}, run)
    assert found.states_equal
    assert found.inversions == 0
    assert found.worst <= worst
