"""HE1a of the second set of recordings: a component that cannot start within bf_window, on a real Slurm.

By its limit job 1 holds both CM nodes beyond the window of 2 minutes. Job 2 is heterogeneous: while its CM
component has no start within the window, its ESB component has no turn and reserves nothing. So jobs 3, 4 and
5 run on the ESB before it.
"""

from __future__ import annotations

import pytest

from tests.conftest import SHARED, needs_shared
from tests.slurm_oracle.cases import Case, _effective, _load_run, read_json
from tests.slurm_oracle.engine import play_engine
from tests.slurm_oracle.figures import compare
from tests.slurm_oracle.plain import play_plain

SECOND_SET = SHARED / "data" / "slurm_oracle_2"
NAME = "HE1a_het_window"


def window_case() -> Case:
    given = read_json(SECOND_SET / "in" / f"{NAME}.json.gz")
    nodes = {"CM": 2, "ESB": 3}
    case = Case(NAME, nodes, given["slurm_conf"], {}, given["jobs"], given["ops"])
    for path in sorted((SECOND_SET / "out").glob(f"{NAME}*")):
        recorded = read_json(path)
        for job in recorded["jobs"]:
            job["partition"] = job["Partition"]
        case.conf = _effective(given["slurm_conf"], recorded)
        case.runs.append(_load_run(path.name.removesuffix(".out.json.gz"), recorded))
    return case


@needs_shared
@pytest.mark.skipif(not SECOND_SET.is_dir(), reason="the second set of recordings is not there")
@pytest.mark.interpreted
@pytest.mark.parametrize("play", [play_engine, play_plain])
def test_a_job_that_waits_for_one_beyond_the_window_holds_no_nodes(play) -> None:
    case = window_case()
    assert len(case.runs) == 2
    for run in case.runs:
        ours = {fate[0]: fate for fate in play(case, run)}
        found = compare(ours, run)
        assert found.states_equal
        assert found.order_equal
        assert len(ours) == found.jobs == 5
        assert found.worst <= 3
