"""By which names applications are known, and which names in models mean nothing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from scheduler_sim import Simulation, System, Workload, simulate
from scheduler_sim.applications.conversion import NO_TYPE
from scheduler_sim.applications.models import Models
from scheduler_sim.applications.names import Names
from scheduler_sim.errors import ConfigError, InputError
from tests.simulation.acting import at

pytestmark = pytest.mark.interpreted

TYPES = [
    {"name": "solver", "percent": 50, "apps": ["NEMO", "17"]},
    {"name": "rest", "percent": 50, "apps": ["1"]},
]
CM = {
    "name": "CM",
    "idle_w": 10,
    "typical_w": 100,
    "peak_w": 500,
    "reference_khz": 2_000_000,
    "pstates": {"lowest_khz": 1_000_000, "highest_khz": 2_000_000},
}
ESB = {**CM, "name": "ESB", "typical_w": 70}


def names() -> Names:
    return Models.of(applications={"types": TYPES}).names


def known(app: list[str], types: list[int], of: Names | None = None) -> list[tuple[str, ...]]:
    found = (of or names()).known(pd.Categorical(app), np.array(types))
    return [found.names[place] for place in found.place]


def test_a_type_has_a_name_others_and_a_number_in_any_case():
    assert [names().type_of(text) for text in ("Solver", "nemo", "17", "REST")] == [0, 0, 0, 1]
    assert names().type_of("1") == 1, "the name of a type is no other type's number"
    assert names().type_of("2") == 1
    assert names().type_of("3") is None


def test_what_the_trace_says_comes_first_then_name_other_names_and_number():
    assert known(["17", "solver", "", "2"], [0, 0, 0, 1]) == [
        ("17", "solver", "NEMO"),
        ("solver", "NEMO", "17"),
        ("solver", "NEMO", "17"),
        ("2", "rest", "1"),
    ]
    assert known(["17", ""], [0, 0], Models.of().names) == [("17",), ()], "without types"


def test_named_types_are_those_of_the_names():
    models = Models.of(applications={"types": TYPES})
    assert [models.named_type(text) for text in ("nemo", "1", "2", "")] == [0, 1, 1, NO_TYPE]
    with pytest.raises(InputError, match="no such type of application"):
        models.named_type("3")


def energy(signatures: dict[str, float] | list[tuple[str, str, float]], **more: object) -> dict:
    """Models that draw 100 W on CM and 70 on ESB; signatures of both alike, or of a module each."""
    rows = [(name, "", w) for name, w in signatures.items()] if isinstance(signatures, dict) else signatures
    name, module, watts = zip(*rows, strict=True)
    table = {"workload": list(name), "frequency_khz": [2_000_000] * len(rows), "power_w": list(watts)}
    if any(module):
        table["module"] = list(module)
    return {"energy": {"power": {"modules": [CM, ESB]}, "signatures": table}, **more}


SYSTEM = System.from_dict({"modules": [{"name": "CM", "nodes": 9}, {"name": "ESB", "nodes": 9}]})


def ran(models: dict, app: list[str], partition: str = "CM", **more: object):
    """Run jobs of one node and 10, 20, ... s; all start at once."""
    jobs = Workload.from_columns(
        nodes=[1] * len(app),
        submit_time=[0] * len(app),
        run_time=[10 * (place + 1) for place in range(len(app))],
        partition=partition,
        app=app,
    )
    result = simulate(SYSTEM, jobs, models=models, **more)
    result.check()
    return result


@pytest.mark.parametrize("spelt", ["solver", "SOLVER", "NEMO", "17"])
def test_a_signature_is_found_by_every_name_of_the_type(spelt):
    result = ran(energy({spelt: 200}, applications={"types": TYPES}), ["nemo", "17", "rest"])
    assert result.components["power_w"].tolist() == [200, 200, 100]


def test_a_signature_is_found_by_the_number_of_the_type_and_a_trace_that_has_numbers():
    types = [{"name": "CMS", "percent": 50}, {"name": "Correlator", "percent": 50}]
    models = {"types": types}
    assert ran(energy({"2": 200}, applications=models), ["Correlator"]).components["power_w"].tolist() == [
        200
    ]
    by_name = ran(energy({"Correlator": 200}, applications=models), ["2", "1"])
    assert by_name.components["power_w"].tolist() == [200, 100]


def test_the_best_name_wins_on_each_module_by_itself():
    types = {"types": TYPES}
    rows = [("solver", "CM", 200.0), ("17", "CM", 300.0), ("NEMO", "ESB", 250.0)]
    assert ran(energy(rows, applications=types), ["17", "nemo"]).components["power_w"].tolist() == [300, 200]
    on_esb = ran(energy(rows, applications=types), ["17", "nemo"], "ESB")
    assert on_esb.components["power_w"].tolist() == [250, 250]


def test_types_that_are_drawn_have_their_signatures():
    """All jobs of no name are of one type, as the other has no share."""
    types = [{"name": "solver", "percent": 100}, {"name": "rest", "percent": 0}]
    result = ran(energy({"solver": 200}, applications={"types": types}), ["", ""])
    assert result.components["power_w"].tolist() == [200, 200]
    ignored = ran(energy({"solver": 200}, applications={"types": types, "named": False}), ["x", "y"])
    assert ignored.components["power_w"].tolist() == [200, 200]


def test_a_choice_of_clock_and_a_cap_see_the_same_signatures():
    """At 1 GHz: 10 + 190 · 1/4 W by the signature, 10 + 90 / 4 by what is typical."""
    more = {"types": [{"name": "solver", "percent": 100}]}
    models = energy({"solver": 200}, applications=more)
    models["energy"]["choice"] = {"objective": "min_energy", "of": "frequency"}
    result = ran(models, ["1"])
    khz, watts = (result.components[name].tolist() for name in ("frequency_khz", "power_w"))
    assert watts == pytest.approx([10 + 190 * (khz[0] / 2e6) ** 2], abs=1e-3)
    capped = energy({"solver": 200}, applications=more)
    capped["energy"]["cap"] = {"power_w": 9 * 10 + 9 * 10 + 190 + 189}
    starts = ran(capped, ["1", "1"]).components["start_time"].tolist()
    assert starts == [0, 10], "two of 200 W are 1 W too much"


def test_what_a_process_submits_has_the_signature_of_its_type():
    types = {"types": [{"name": "solver", "percent": 0}, {"name": "rest", "percent": 100}]}
    jobs = Workload.from_columns(nodes=[1], submit_time=[0], run_time=[9], partition="CM", app="rest")
    sim = Simulation(SYSTEM, jobs, models=energy({"Solver": 200, "2": 150}, applications=types))
    at(sim, 4, lambda: sim.submit(nodes=2, run_time=5, partition="CM", app="1"))
    result = sim.run()
    result.check()
    assert result.components["power_w"].tolist() == [150, 400]
    assert "unmatched" not in result.manifest


def test_what_has_no_signature_is_counted_with_its_work():
    """10 s by the signature, 20 s without; on the other module nothing has one."""
    result = ran(energy([("a", "CM", 200.0)]), ["a", "b\x1b[31m"])
    found = result.metrics["energy"]["power_from"]
    assert found["signature"] == {"components": 1, "node_seconds": 10, "share": 0.333333}
    assert found["typical"] == {"components": 1, "node_seconds": 20, "share": 0.666667}
    assert found["reference_power"] == {"components": 0, "node_seconds": 0, "share": 0}
    assert result.manifest["energy"]["without_signature"] == {"b\x1b[31m": 20}
    assert ran(energy([("a", "CM", 200.0)]), ["a"], "ESB").manifest["energy"]["without_signature"] == {
        "a": 10
    }
    plain = ran({"energy": {"power": {"modules": [CM, ESB]}}}, ["a"])
    assert "without_signature" not in plain.manifest["energy"]
    assert plain.metrics["energy"]["power_from"]["typical"]["share"] == 1


def test_names_that_mean_nothing_are_counted_and_named():
    types = [
        {"name": "solver", "percent": 100, "ratios": {"CM": 1, "EBS": 2}},
        {"name": "rest", "percent": 0},
    ]
    rows = [("Solver", "CM", 200.0), ("solver", "ESB", 150.0), ("typo", "CM", 90.0), ("solver", "DAM", 80.0)]
    result = ran(energy(rows, applications={"types": types}), ["1"])
    assert result.manifest["unmatched"] == {
        "types": ["rest"],
        "modules": ["EBS", "DAM"],
        "signatures": ["typo", "solver on DAM"],
    }
    assert result.metrics["counts"]["unmatched"] == {"types": 1, "modules": 2, "signatures": 2}


def test_a_signature_behind_a_better_one_means_nothing():
    result = ran(energy({"17": 300, "solver": 200}, applications={"types": TYPES}), ["17", "rest"])
    assert result.manifest["unmatched"] == {"signatures": ["solver"]}


def test_models_that_fit_are_not_mentioned():
    result = ran(energy({"solver": 200}, applications={"types": TYPES}), ["17", "rest"])
    assert "unmatched" not in result.manifest
    assert "unmatched" not in result.metrics["counts"]
    nobody = simulate(SYSTEM, None, models=energy({"solver": 200}, applications={"types": TYPES}))
    assert "unmatched" not in nobody.manifest


def test_modules_of_scaling_profiles_and_conversions_count():
    profile = {
        "version": 1,
        "app": "solver",
        "scaling": "weak",
        "ranks_per_node": 1,
        "modules": {"CM": 1, "EBS": 2},
        "efficiency": {"load_balance": {"curve": "constant", "value": 1}},
    }
    types = {"types": [{"name": "solver", "percent": 100, "profile": profile}]}
    assert ran({"applications": types}, ["1"]).manifest["unmatched"] == {"modules": ["EBS"]}
    models = {"conversions": [{"origin": "CM", "to": "DAM"}]}
    assert ran(models, ["a"]).manifest["unmatched"] == {"modules": ["DAM"]}


def test_two_signatures_of_one_name_are_refused():
    with pytest.raises((InputError, ConfigError), match="application A has several"):
        ran(energy({"a": 200, "A": 100}), ["a"])
