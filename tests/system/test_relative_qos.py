"""QOS with the flag Relative: percentages of what the cluster, or a partition, has."""

from __future__ import annotations

from scheduler_sim import System
from scheduler_sim.system.slurm_conf.notes import Notes
from scheduler_sim.system.slurm_dumps.relative import NO_TOTAL, made_absolute

SYSTEM = System.from_dict(
    {
        "modules": [
            {
                "name": "m",
                "nodes": 7,
                "cores_per_node": 8,
                "memory_gb": 2,
                "node_sets": [{"name": "a", "nodes": 3}, {"name": "b", "nodes": 4, "gpus_per_node": 2}],
            }
        ],
        "partitions": [
            {"name": "all", "module": "m"},
            {"name": "gpu", "module": "m", "node_sets": ["b"], "slurm": {"QOS": "part"}},
        ],
        "resources": {"licences": {"cfd": 5}},
    }
)
OF_ALL = {"node": 50, "cpu": 25, "mem": 10, "gres/gpu": 50, "license/cfd": 50}


def test_of_all_nodes_rounded_down() -> None:
    notes = Notes()
    form = {"q": {"Flags": ["Relative"], "GrpTRES": OF_ALL, "MaxJobsPerUser": 3}, "plain": 4}
    assert made_absolute(form, SYSTEM, "qos.txt:1", notes) == {
        "q": {
            "GrpTRES": {"node": 3, "cpu": 14, "mem": 1433, "gres/gpu": 4, "license/cfd": 2},
            "MaxJobsPerUser": 3,
        },
        "plain": 4,
    }
    assert not notes.ignored


def test_of_the_partition_whose_qos_it_is_and_no_more_than_all() -> None:
    form = {"part": {"Flags": ["DenyOnLimit", "relative"], "MaxTRESPerUser": {"cpu": 50, "node": 300}}}
    made = made_absolute(form, SYSTEM, "qos.txt:1", Notes())
    assert made == {"part": {"Flags": ["DenyOnLimit"], "MaxTRESPerUser": {"cpu": 16, "node": 4}}}


def test_without_the_flag_amounts_stay() -> None:
    form = {"q": {"Flags": ["DenyOnLimit"], "GrpTRES": {"node": 5}}}
    assert made_absolute(form, SYSTEM, "qos.txt:1", Notes()) == form


def test_a_percentage_of_what_is_not_known_is_told() -> None:
    notes = Notes()
    made = made_absolute({"q": {"Flags": ["Relative"], "GrpTRES": {"billing": 5}}}, SYSTEM, "q:1", notes)
    assert made == {"q": {}}
    (one,) = notes.ignored
    assert (one.key, one.value, one.why) == ("GrpTRES", "billing=5", NO_TOTAL)
