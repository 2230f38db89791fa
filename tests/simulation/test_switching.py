"""Nodes that are switched off, and what is done to them and to components meanwhile."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import Policy, Result, Simulation, System, Workload, simulate
from scheduler_sim.cli.main import main
from scheduler_sim.engine.core import state as slot
from scheduler_sim.engine.engine import FullCore, has
from scheduler_sim.engine.rules.power_saving.state import LINES
from scheduler_sim.errors import ConfigError
from tests.conftest import ROOT, examples
from tests.oracle.plain_switching import Switch
from tests.scheduling.test_switching import a_switch, models
from tests.scheduling.unit_cases import POLICIES, cases, two_modules, workload
from tests.scheduling.unit_cases import Case as UnitCase

from .acting import DONE, GONE, at, fates, steps, trace
from .scripts import Script, scripts

pytestmark = pytest.mark.interpreted

RULE = Switch(timeout=100, boot=50)


def switched(nodes: int, *jobs: tuple[int, ...], rule: Switch = RULE, policy: Any = "easy") -> Simulation:
    return Simulation(System.homogeneous(nodes), trace(*jobs), policy, models=models({"cluster": rule}))


def test_boots_and_shutdowns_take_exactly_their_energy() -> None:
    """19,030 J in 152 s is no whole number of mW, nor is 620 J in 7 s: two nodes, both once."""
    power = {"modules": [{
        "name": "cluster", "idle_w": 95, "typical_w": 190.738, "peak_w": 190.738, "off_w": 9.75,
        "reference_khz": 1000, "pstates_khz": [1000],
        "boot": {"time_s": 152, "energy_j": 19030}, "shutdown": {"time_s": 6.1, "energy_j": 620},
    }]}  # fmt: skip
    workload = Workload.from_columns(
        nodes=[2, 2], submit_time=[0, 100], run_time=[10, 10], time_limit=[1000, 1000]
    )
    energy = {"energy": {"power": power, "idle_off": {"timeout_s": 20}}}
    result = simulate(System.homogeneous(2), workload, "easy", models=energy)
    result.check()
    found = result.metrics["energy"]
    assert result.components["start_time"].tolist() == [0, 252]
    assert found["transition_j"] == 2 * (19030 + 620)
    parts = [found[part] for part in ("job_j", "idle_j", "transition_j", "off_j")]
    assert found["system_j"] == pytest.approx(sum(parts), abs=1e-6)


def test_the_energy_of_a_schedule_by_hand() -> None:
    """Idle 10 W, off 1 W, booting 20 W, busy 100 W: two jobs of 10 s, 390 s off, 50 s of boot."""
    result = switched(1, (0, 1, 10), (500, 1, 10)).run()
    result.check()
    found = result.metrics["energy"]
    assert [found[part] for part in ("job_j", "idle_j", "off_j", "transition_j")] == [2000, 1000, 390, 1000]
    assert found["system_j"] == 4390
    assert found["modules"]["cluster"]["off_j"] == 390
    powers = result.timeline[result.timeline["module"] == "total"]
    assert dict(zip(powers["time"], powers["power_w"], strict=True)) == {
        0: 100, 10: 10, 110: 1, 500: 20, 550: 100, 560: 10,
    }  # fmt: skip


def test_a_result_on_disk_has_the_columns(tmp_path: Any) -> None:
    result = switched(2, (0, 1, 10), (500, 2, 10)).run()
    loaded = Result.load(result.save(tmp_path / "result"))
    loaded.check()
    assert loaded.timeline.equals(result.timeline.astype(loaded.timeline.dtypes))
    assert list(loaded.timeline)[-3:] == ["nodes_off", "nodes_booting", "nodes_stopping"]


# -------------------------------------------------------------------- actions
@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative"])
def test_who_is_cancelled_leaves_booting_nodes_that_come_up_idle(policy: str) -> None:
    sim = switched(1, (0, 1, 10), (500, 1, 10), (900, 1, 10), policy=policy)
    at(sim, 520, lambda: sim.cancel(2))
    result = sim.run()
    assert fates(result)[2] == (-1, 520, GONE)
    assert steps(result, "nodes_booting") == [(0, 0), (500, 1), (550, 0), (900, 1), (950, 0)]
    assert steps(result, "nodes_off") == [(0, 0), (110, 1), (500, 0), (650, 1), (900, 0)]


def test_who_comes_meanwhile_has_the_booting_node() -> None:
    sim = switched(1, (0, 1, 10), (500, 1, 10), (530, 1, 5))
    at(sim, 520, lambda: sim.cancel(2))
    assert fates(sim.run())[3] == (550, 555, DONE)


def test_a_drain_takes_idle_nodes_then_those_off_then_who_boots_when_it_is_up() -> None:
    """Of 4 nodes 1 is kept awake and 3 are off; a job of 2 has one booted at 200."""
    sim = switched(4, (0, 1, 10), (200, 2, 100), rule=Switch(100, 1, 50))
    at(sim, 220, lambda: sim.drain("cluster", 4))
    at(sim, 400, lambda: sim.resume("cluster", 4))
    result = sim.run()
    assert steps(result, "nodes_down") == [(0, 0), (220, 3), (250, 4), (400, 0)]
    assert steps(result, "nodes_off")[-3:] == [(200, 2), (220, 0), (500, 2)]
    assert fates(result)[2][:2] == (400, 500)


def test_a_drain_of_a_node_that_shuts_down_takes_it_when_it_is_off() -> None:
    sim = switched(1, (0, 1, 10), (200, 1, 10), rule=Switch(100, 0, 50, 30))
    at(sim, 120, lambda: sim.drain("cluster", 1))
    at(sim, 300, lambda: sim.resume("cluster", 1))
    result = sim.run()
    assert steps(result, "nodes_down") == [(0, 0), (140, 1), (300, 0)]
    assert fates(result)[2][:2] == (300, 310)
    assert steps(result, "nodes_off") == [(0, 0)]


def test_nodes_that_come_back_are_up() -> None:
    sim = switched(1, (0, 1, 10), (500, 1, 10))
    at(sim, 300, lambda: sim.drain("cluster", 1, until=500))
    result = sim.run()
    assert fates(result)[2][:2] == (500, 510)
    assert steps(result, "nodes_off") == [(0, 0), (110, 1), (300, 0)]


def test_failures_hit_nodes_that_are_off_too() -> None:
    sim = switched(3, (0, 1, 1000), (500, 2, 10))
    at(sim, 200, lambda: sim.fail("cluster", 3))
    at(sim, 600, lambda: sim.resume("cluster", 2))
    result = sim.run()
    assert fates(result)[1][1:] == (200, "FAILED")
    assert steps(result, "nodes_down") == [(0, 0), (200, 3), (600, 1)]
    assert fates(result)[2][:2] == (600, 610)


def test_who_is_submitted_by_a_process_finds_nodes_that_went_off_before() -> None:
    sim = Simulation(System.homogeneous(2), None, "easy", models=models({"cluster": RULE}))
    at(sim, 70, lambda: sim.submit(nodes=2, run_time=10, time_limit=10))
    at(sim, 400, lambda: sim.submit(nodes=1, run_time=10, time_limit=10))
    result = sim.run()
    assert [fate[:2] for fate in fates(result).values()] == [(70, 80), (450, 460)]
    assert steps(result, "nodes_off")[:3] == [(70, 0), (180, 2), (400, 1)]


# -------------------------------------------------------------------- units
def test_what_starts_together_starts_when_all_its_nodes_are_up() -> None:
    """A boots for 50 s, B for 20 s, so that B begins at 530."""
    jobs = Workload.from_columns(
        modular_job_id=[1, 2, 2],
        component_id=[1, 2, 3],
        submit_time=[0, 500, 500],
        nodes=[1, 1, 2],
        run_time=[10, 10, 10],
        time_limit=[10, 10, 10],
        partition=["A", "A", "B"],
    )
    for policy in POLICIES.values():
        rules = {"A": Switch(100, 0, 50), "B": Switch(100, 0, 20)}
        result = simulate(two_modules(), jobs, Policy(**policy), models=models(rules))
        result.check()
        assert result.components["start_time"].tolist() == [0, 550, 550]
        booting = {module: steps(result, "nodes_booting", module) for module in "AB"}
        assert booting == {"A": [(0, 0), (500, 1), (550, 0)], "B": [(0, 0), (530, 2), (550, 0)]}


def played(case: UnitCase, rule: Switch) -> Simulation:
    system = System.from_dict({"modules": [{"name": name, "nodes": n} for name, n in case.modules.items()]})
    policy = Policy(**POLICIES[case.policy], **case.settings)
    return Simulation(system, workload(case.components), policy, models=models(dict.fromkeys("AB", rule)))


@examples(60)
@given(cases(), a_switch)
def test_units_start_whole_and_nobody_is_late_for_an_appointment(case: UnitCase, rule: Switch) -> None:
    sim = played(case, rule)
    watched(sim)
    result = sim.run()
    result.check()
    if case.settings["extend_job"] == "refuse":
        late = result.components["start_time"] > result.components["eligible_time"]
        appointed = [
            row for row in np.flatnonzero(late) if has(sim._core, "coscheduling") and is_appointed(sim, row)
        ]
        assert not appointed


def is_appointed(sim: Simulation, row: int) -> bool:
    return bool(sim._core.coscheduling.member[row].reserved_from >= 0)


@examples(40)
@given(cases())
def test_units_are_as_ever_where_the_timeout_never_comes(case: UnitCase) -> None:
    found = played(case, Switch(10**12, 0, 5)).run()
    expected = played(case, Switch()).run()
    assert found.components.equals(expected.components)


# -------------------------------------------------------------------- whatever is done
def watched(sim: Simulation) -> None:
    """Look at the core after every single instant."""
    run, nodes = sim._loader.scheme.run, [module.nodes for module in sim.system.modules]

    def by_steps(core: FullCore, until: int, budget: int) -> None:
        while True:
            run(core, until, min(budget, int(core.clock.steps) + 1))
            every_node_is_somewhere(core, nodes)
            if core.clock.status != slot.BUDGET or core.clock.steps >= budget:
                return

    object.__setattr__(sim._loader.scheme, "run", by_steps)


def every_node_is_somewhere(core: FullCore, nodes: list[int]) -> None:
    for module, count in enumerate(nodes):
        pool = core.pools[module]
        if not has(core, "power_saving"):
            return
        switch, lines = core.power_saving.module[module], []
        for line in range(LINES):
            window = core.power_saving.window[module, line]
            batches = core.power_saving.batch[module, line][window.head : window.tail]
            assert (batches["nodes"] > 0).all()
            assert (np.diff(batches["time"]) >= 0).all()
            lines.append(int(batches["nodes"].sum()))
        assert lines == [pool.free, switch.booting, switch.stopping]
        assert min(pool.free, pool.busy, pool.down, switch.off, switch.booting, switch.stopping) >= 0
        assert pool.free + pool.busy + pool.down + switch.off + switch.booting + switch.stopping == count
        assert pool.draining <= pool.busy + switch.booting + switch.stopping


@examples(100)
@given(scripts(), st.tuples(a_switch, a_switch, a_switch))
def test_every_script_keeps_the_laws_and_every_node(script: Script, rules: tuple[Switch, ...]) -> None:
    modules = [module.name for module in script.case.machine.system().modules]
    sim = Simulation(
        script.case.machine.system(),
        script.case.workload(),
        Policy(**script.case.policy),
        seed=script.seed,
        models=models(dict(zip(modules, rules, strict=False))),
    )
    watched(sim)
    result, _ = script.play(sim)
    result.check()
    for row in np.flatnonzero(result.components["start_time"] >= 0):
        assert result.components["start_time"][row] >= result.components["eligible_time"][row]


# -------------------------------------------------------------------- what is refused
def keys(**changed: Any) -> dict[str, Any]:
    given = models({"cluster": RULE})
    given["energy"]["idle_off"] |= changed
    return given


def test_a_scheduler_of_ones_own_switches_no_nodes_off() -> None:
    policy = {"scheduler": f"{ROOT}/configs/schedulers/classic.py:Easy"}
    with pytest.raises(
        ConfigError, match=r"policy.backfill: found 'scheduler' where idle nodes are switched off"
    ):
        switched(1, (0, 1, 10), policy=policy)


def test_a_static_shadow_is_of_nodes_that_stay_on() -> None:
    with pytest.raises(ConfigError, match=r"policy.shadow: found 'static'.*on nodes that stay on"):
        switched(1, (0, 1, 10), policy={"backfill": "easy", "shadow": "static"})


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"modules": {"clutser": {"timeout_s": 5}}},
            "energy.idle_off.modules: found 'clutser'; allowed: cluster",
        ),
        ({"timeout_s": -1}, "timeout_s: found -1"),
        ({"timeout_s": "soon"}, "timeout_s: found 'soon'"),
        ({"min_awake": -2}, "min_awake: found -2"),
        ({"awake": 2}, "awake"),
    ],
)
def test_odd_rules_are_errors(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        simulate(System.homogeneous(1), trace((0, 1, 10)), models=keys(**changed))


def test_under_a_power_cap_each_node_counts_as_if_it_booted() -> None:
    given = keys()
    given["energy"]["cap"] = {"power_w": 20}
    with pytest.raises(ConfigError, match=r"energy.cap.power_w: found at most 20 W; allowed: above 20 W"):
        simulate(System.homogeneous(1), trace((0, 1, 10)), models=given)


def test_nodes_do_not_boot_in_no_time() -> None:
    with pytest.raises(ConfigError, match=r"power profile of cluster: boot.time_s: found 0; allowed"):
        switched(1, (0, 1, 10), rule=Switch(10, 0, 0))


def test_the_command_ends_with_2(tmp_path: Any, capsys: Any) -> None:
    (tmp_path / "s.yaml").write_text("modules: [{name: CM, nodes: 2}]\n")
    (tmp_path / "t.swf").write_text("1 0 -1 10 1 -1 -1 1 10 -1 1 1 1 1 1 -1 -1 -1\n")
    (tmp_path / "m.yaml").write_text(
        "energy:\n  power:\n    modules:\n      - {name: CM, idle_w: 1, typical_w: 2, peak_w: 3, "
        "reference_khz: 1, pstates_khz: [1], boot: {time_s: 9, energy_j: 1}}\n"
        "  idle_off: {timeout_s: 10m, min_awake: 1}\n"
    )
    command = [
        "run",
        *(str(tmp_path / name) for name in ("s.yaml", "t.swf")),
        "--models",
        str(tmp_path / "m.yaml"),
    ]
    assert main([*command, "--policy", "slurm", "--set", "policy.slurm.ResumeTimeout=8"]) == 2
    assert "ResumeTimeout: found 8, and nodes of CM boot in 9 s" in capsys.readouterr().err
    assert main([*command, "--policy", "easy"]) == 0
