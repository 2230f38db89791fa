"""Orders of the queue: the formulas of rule 3, and functions of the user's own."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import Policy, System, Workload, read_trace, simulate
from scheduler_sim.errors import ConfigError
from scheduler_sim.policy import order
from tests.conftest import ROOT, examples

SAMPLE = ROOT / "workloads" / "sample-1000.swf"
FORMULAS = {
    "fifo": lambda s, r, n, w: 0,
    "sjf": lambda s, r, n, w: r,
    "ljf": lambda s, r, n, w: -r,
    "smallest": lambda s, r, n, w: n,
    "largest": lambda s, r, n, w: -n,
    "f1": lambda s, r, n, w: math.log10(r) * n + 870 * math.log10(max(s, 1)),
    "f2": lambda s, r, n, w: math.sqrt(r) * n + 25600 * math.log10(max(s, 1)),
    "f3": lambda s, r, n, w: r * n + 6.86e6 * math.log10(max(s, 1)),
    "f4": lambda s, r, n, w: r * math.sqrt(n) + 5.3e5 * math.log10(max(s, 1)),
    "wfp3": lambda s, r, n, w: -((w / r) ** 3) * n,
    "unicef": lambda s, r, n, w: -w / (math.log2(max(n, 2)) * r),
}
component = st.tuples(
    st.integers(0, 10**9), st.integers(1, 10**7), st.integers(1, 10**6), st.integers(0, 10**8)
)


@examples(60)
@given(st.lists(component, min_size=1, max_size=6))
@pytest.mark.parametrize("name", FORMULAS)
def test_formulas_are_those_of_the_rule(name, components):
    s, r, n, w = np.array(components, dtype=np.float64).T
    found = order.keys(name, submit=s, limit=r, nodes=n, wait=w)
    assert found.dtype == np.float64
    assert found.tolist() == pytest.approx([FORMULAS[name](*row) for row in components], rel=1e-14)
    if name in order.STATIC:
        columns = np.array([s, r, n, s * 0 - 1, s * 0])
        assert order.static_keys(name, None, columns).tolist() == found.tolist()
    assert order.depends_on_time(name, None) == (name in ("wfp3", "unicef"))


def starts(policy: Policy, rows: int = 400) -> list[int]:
    result = simulate(System.homogeneous(128), read_trace(SAMPLE).select(range(rows)), policy)
    return result.components["start_time"].tolist()


def own_sjf(limit):
    return limit


def own_f4(submit, limit, nodes):
    return limit * math.sqrt(nodes) + 5.3e5 * math.log10(max(submit, 1.0))


def own_wfp3(wait, limit, nodes):
    return -((wait / limit) * (wait / limit) * (wait / limit)) * nodes


def own_wfp3_by_now(now, nodes, submit, limit):
    ratio = (now - submit) / limit
    return -(ratio * ratio * ratio) * nodes


def own_unicef(nodes, wait, limit):
    return -wait / (math.log2(max(nodes, 2.0)) * limit)


OWN = [
    (own_sjf, "sjf"),
    (own_f4, "f4"),
    (own_wfp3, "wfp3"),
    (own_wfp3_by_now, "wfp3"),
    (own_unicef, "unicef"),
]


SOME = [*((*one, "easy") for one in OWN), (own_f4, "f4", "none"), (own_unicef, "unicef", "conservative")]
ALL = [(*one, backfill) for one in OWN for backfill in ("none", "easy", "conservative")]
REST = [pytest.param(*one, marks=pytest.mark.long) for one in ALL if one not in SOME]


@pytest.mark.parametrize(("own", "name", "backfill"), SOME + REST)
def test_a_function_that_is_a_built_in_formula_gives_its_schedule(own, name, backfill):
    assert starts(Policy(order=own, backfill=backfill)) == starts(Policy(order=name, backfill=backfill))


def test_a_function_orders_the_candidates_of_backfill_too():
    own = Policy(backfill="easy", backfill_order=own_sjf)
    assert starts(own) == starts(Policy(backfill="easy", backfill_order="sjf"))


def test_a_policy_file_names_a_function_beside_it(tmp_path):
    (tmp_path / "my.py").write_text("def score(limit, wait):\n    return limit - 2.0 * wait\n")
    (tmp_path / "mine.yaml").write_text("order: my.py:score\nbackfill: easy\n")

    def score(limit, wait):
        return limit - 2.0 * wait

    assert starts(Policy.from_yaml(tmp_path / "mine.yaml")) == starts(Policy(order=score, backfill="easy"))


def seen_by(reads: str) -> list[float]:
    """What a function of one parameter is given for three components of two partitions."""
    seen: list[float] = []
    function = eval(f"lambda {reads}: seen.append({reads}) or 0.0", {"seen": seen})
    system = System.from_dict(
        {
            "modules": [{"name": "A", "nodes": 9}],
            "partitions": [{"name": "A", "module": "A"}, {"name": "B", "module": "A", "priority": 7}],
        }
    )
    jobs = Workload.from_columns(
        nodes=[3, 2, 1], submit_time=[100, 130, 110], run_time=[5, 6, 7], time_limit=[50, 60, 70],
        memory_kb=[-1, 8, 9], partition=["A", "B", ""],
    )  # fmt: skip
    simulate(system, jobs, Policy(order=function))
    return seen


@pytest.mark.parametrize(
    ("reads", "sees"),
    [
        ("submit", [0, 10, 30]),
        ("limit", [50, 70, 60]),
        ("nodes", [3, 1, 2]),
        ("memory_kb", [-1, 9, 8]),
        ("priority", [0, 0, 7]),
    ],
)
def test_what_a_function_is_given(reads, sees):
    assert seen_by(reads) == sees


def test_a_function_of_nothing_is_submission_order():
    assert starts(Policy(order=lambda: 1.0), 100) == starts(Policy.named("fifo"), 100)


def test_partition_priority_comes_before_every_function():
    system = System.from_dict(
        {
            "modules": [{"name": "A", "nodes": 1}],
            "partitions": [{"name": "A", "module": "A"}, {"name": "B", "module": "A", "priority": 7}],
        }
    )
    jobs = Workload.from_columns(
        nodes=[1, 1, 1], submit_time=[0, 1, 2], run_time=[9, 9, 9], partition=["A", "A", "B"]
    )
    found = simulate(system, jobs, Policy(order=lambda submit: submit)).components["start_time"]
    assert found.tolist() == [0, 18, 9]


def wrong(nods):
    return nods


def fails(nodes):
    return [][int(nodes)]


def gives_nan(nodes):
    return math.nan if nodes > 2 else nodes


def gives_text(nodes):
    return "many"


def cannot_be_compiled(nodes, wait):
    return {"a": object()}[nodes].thing


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (wrong, "'wrong': parameter 'nods'.*did you mean 'nodes'"),
        (fails, "'fails' fails: IndexError"),
        (gives_nan, "'gives_nan' returns NaN for component 1"),
        (gives_text, "'gives_text' fails: ValueError"),
        (cannot_be_compiled, "'cannot_be_compiled' cannot be compiled"),
        (lambda *args: 0, "parameter 'args'"),
        (lambda *, nodes: nodes, "fails: TypeError"),
        (max, "its parameters cannot be read|parameter"),
    ],
)
def test_a_function_that_will_not_do_is_told_so(function, says):
    jobs = Workload.from_columns(nodes=[2, 3, 1], submit_time=[0, 0, 0], run_time=[5, 5, 5])
    with pytest.raises(ConfigError, match=says):
        simulate(System.homogeneous(3), jobs, Policy(order=function))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("def score(nodes):\n    return nodes\nraise RuntimeError('broken')\n", "broken"),
        ("def other(nodes):\n    return nodes\n", "no function 'score'"),
        ("def score(nodes)\n", "SyntaxError"),
    ],
)
def test_a_file_that_will_not_do_is_told_so(tmp_path, text, says):
    (tmp_path / "my.py").write_text(text)
    (tmp_path / "mine.yaml").write_text("order: my.py:score\n")
    with pytest.raises(ConfigError, match=says):
        simulate(System.homogeneous(200), SAMPLE, Policy.from_yaml(tmp_path / "mine.yaml"))


def zero_at_first(nodes, wait):
    return nodes / wait


def nan_for_two(nodes, wait):
    return (nodes - 2.0) / (nodes - 2.0) * nodes


def raises_for_two(nodes, wait):
    if nodes == 2:
        raise ValueError("two")
    return nodes


@pytest.mark.parametrize("function", [nan_for_two, raises_for_two])
def test_where_a_function_of_time_gives_nan_or_fails_the_component_goes_last(function):
    """A holds all nodes to 10. B (2 nodes) would go before C (3 nodes), by submission and by nodes."""
    jobs = Workload.from_columns(nodes=[4, 2, 3], submit_time=[0, 1, 2], run_time=[10, 5, 5])
    found = simulate(System.homogeneous(4), jobs, Policy(order=function)).components["start_time"]
    assert found.tolist() == [0, 15, 10]


def test_dividing_by_no_wait_is_infinite_and_goes_last():
    """At 2 C has not waited and goes behind B; at 10 B's key is 2/9 and C's 1/8."""
    jobs = Workload.from_columns(nodes=[4, 2, 1], submit_time=[0, 1, 2], run_time=[10, 5, 5])
    policy = Policy(order=zero_at_first)
    found = simulate(System.homogeneous(4), jobs, policy).components["start_time"]
    assert found.tolist() == [0, 10, 10]


STARTS = """
import hashlib
import numpy as np
from scheduler_sim import Policy, System, read_trace, simulate
trace = read_trace({trace!r})
for order in ("f1", "f2", "f3", "f4", "wfp3", "unicef"):
    result = simulate(System.homogeneous(128), trace, Policy(order=order))
    print(order, hashlib.sha256(np.array(result.components["start_time"]).tobytes()).hexdigest())
print(sum(np._core._multiarray_umath.__cpu_features__.values()))
"""


def test_schedules_do_not_depend_on_what_the_processor_can_do(tmp_path):
    """NumPy's vectorised functions round differently from one processor to the next."""
    core = np._core._multiarray_umath
    extra = [name for name in core.__cpu_dispatch__ if core.__cpu_features__.get(name)]
    if not extra:
        pytest.skip("NumPy uses nothing here that could be switched off")
    printed = []
    for switched_off in ("", " ".join(extra)):
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", STARTS.format(trace=str(SAMPLE))],
            env={**os.environ, "NPY_DISABLE_CPU_FEATURES": switched_off, "PYTHONPATH": str(ROOT)},
            cwd=Path(tmp_path),
            capture_output=True,
            text=True,
            check=True,
        )
        printed.append(done.stdout.splitlines())
    assert printed[0][:-1] == printed[1][:-1]
    assert int(printed[0][-1]) > int(printed[1][-1])
