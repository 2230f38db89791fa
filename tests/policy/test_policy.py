"""Policies by name, from files and by settings; and what each mistake is called."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from scheduler_sim.errors import ConfigError
from scheduler_sim.policy.keys import BACKFILLS, DEFAULTS, PolicyKeys
from scheduler_sim.policy.policy import ALL, ORDERS, PRESETS, Policy
from scheduler_sim.policy.slurm_keys import NOT_NORMALISED
from tests.conftest import ROOT

SHIPPED = sorted((ROOT / "configs" / "policies").glob("*.yaml"))


def from_text(tmp_path: Path, text: str) -> Policy:
    path = tmp_path / "file.yaml"
    path.write_text(text)
    return Policy.from_yaml(path)


@pytest.mark.parametrize(
    ("name", "order", "backfill", "depth"),
    [
        ("fcfs", "fifo", "none", 0),
        ("easy", "fifo", "easy", 1),
        ("conservative", "fifo", "conservative", ALL),
        ("slurm", "fifo", "slurm", ALL),
        ("EASY", "fifo", "easy", 1),
        *[(order, order, "none", 0) for order in ORDERS],
    ],
)
def test_policies_by_name(name: str, order: str, backfill: str, depth: int) -> None:
    policy = Policy.named(name)
    assert (policy.order, policy.backfill, policy.reservation_depth) == (order, backfill, depth)
    assert policy.name == name.lower()


@pytest.mark.parametrize("name", ["multifactor", "priority/multifactor"])
def test_a_priority_plugin_is_no_policy(name: str) -> None:
    with pytest.raises(ConfigError, match=r"multifactor is a key of policy slurm: --policy slurm --set "):
        Policy.resolve(name)


def test_an_unknown_name() -> None:
    with pytest.raises(ConfigError, match=r"unknown policy 'esay'; allowed: fcfs, .*\(did you mean 'easy'"):
        Policy.resolve("esay")


def test_depth() -> None:
    assert Policy(backfill="easy").reservation_depth == 1
    assert Policy(backfill="easy", depth=4).reservation_depth == 4
    assert Policy(backfill="first_fit").reservation_depth == 0


def test_everything_that_can_name_a_policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    easy = Policy.named("easy")
    assert Policy.resolve(easy) is easy
    assert Policy.resolve("easy") == easy
    assert Policy.resolve({"name": "easy", "backfill": "easy"}) == easy
    (tmp_path / "mine.yml").write_text("backfill: easy\nname: easy\n")
    (tmp_path / "no_suffix").write_text("backfill: easy\nname: easy\n")
    monkeypatch.chdir(tmp_path)
    for path in (tmp_path / "mine.yml", "mine.yml", "no_suffix"):
        assert Policy.resolve(path) == easy
    with pytest.raises(ConfigError, match=r"nowhere\.yaml: no such file"):
        Policy.resolve("nowhere.yaml")


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_policies_load(path: Path) -> None:
    policy = Policy.from_yaml(path)
    assert policy.name == path.stem
    assert Policy(**policy.to_dict()) == policy
    assert pickle.loads(pickle.dumps(policy)) == policy


def changes_of(policy: Policy) -> dict[str, object]:
    """What is not at its default; of Slurm's parameters, what is stated."""
    keys = policy.to_dict()
    stated = {name: getattr(policy.slurm, name) for name in policy.slurm.model_fields_set}
    found = {k: v for k, v in keys.items() if k not in ("name", "slurm") and v != DEFAULTS[k]}
    return found | ({"slurm": stated} if stated else {})


def test_shipped_policies_are_what_they_say() -> None:
    changed = {path.stem: changes_of(Policy.from_yaml(path)) for path in SHIPPED}
    event = {"passes": "event"}
    assert changed == {
        "easy": {"backfill": "easy", "depth": 1},
        "easy-sjbf": {"backfill": "easy", "backfill_order": "sjf"},
        "conservative-keep": {"backfill": "conservative", "replan": "keep"},
        "pyss-easy": {"backfill": "easy", **event},
        "pyss-easy-sjbf": {"backfill": "easy", "backfill_order": "sjf", **event},
        "pyss-conservative": {"backfill": "conservative", "replan": "keep", **event},
        "cqsim-easy": {"backfill": "easy", "candidate_time": "run", **event},
        "batsim-easy-fast": {"backfill": "easy", "extra_rule": False, "shadow": "static"},
        "slurm-measured": {"backfill": "slurm", "slurm": {"latency": "measured"}},
        "slurm-19.05": {"backfill": "slurm", "slurm": {"version": "19.05"}},
        "slurm-simulator": {
            "backfill": "slurm",
            "slurm": {
                "version": "19.05",
                "clock": "simulator",
                "starts_before_s": 0,
                "SelectType": "select/linear",
                "bf_max_job_test": 50,
                "bf_node_space_size": 1000,
                "KillWait": 60,
                "OverTimeLimit": 1,
            },
        },
    }


def test_the_commented_file_has_every_key() -> None:
    text = (ROOT / "configs" / "policies" / "easy.yaml").read_text()
    assert all(f"\n{key}: " in text for key in PolicyKeys.model_fields)


def test_the_reference_page_has_every_key_and_preset() -> None:
    page = (ROOT / "docs" / "reference" / "policy.md").read_text()
    assert all(f"`{word}`" in page for word in (*PolicyKeys.model_fields, *PRESETS, *ORDERS))


def test_keys_may_stand_under_policy(tmp_path: Path) -> None:
    assert from_text(tmp_path, "policy:\n  order: SJF\n  backfill: easy\n") == Policy(
        name="file", order="sjf", backfill="easy"
    )


def test_settings() -> None:
    easy = Policy.named("easy")
    policy = easy.with_settings({"policy.depth": "2", "policy.backfill_order": "sjf"})
    assert (policy.depth, policy.backfill_order, policy.order) == (2, "sjf", "fifo")
    assert policy.name == "easy (depth=2, backfill_order=sjf)"
    assert easy.depth is None
    assert easy.with_settings({"policy.extra_rule": "false", "overrun_s": 60}).extra_rule is False
    assert policy.with_settings({"policy.depth": "null"}).depth is None
    assert policy.with_settings({"policy.name": "mine", "policy.depth": "3"}).name == "mine"
    assert easy.with_settings({}) == easy
    assert easy.with_settings({"policy.order": "fifo"}) == easy


def test_many_settings_make_a_name_that_ends() -> None:
    """Ten keys of Slurm with long names: those that fit are told, the others are counted."""
    weights = ("Age", "JobSize", "Partition", "QOS", "Assoc", "Fairshare")
    given = {f"policy.slurm.PriorityWeight{name}": "7" for name in weights}
    given |= {f"policy.slurm.{key}": "9" for key in ("bf_interval", "bf_max_job_test", "default_queue_depth")}
    policy = Policy.named("slurm").with_settings(given)
    assert policy.name.startswith("slurm (default_queue_depth=9, bf_interval=9, ")
    assert policy.name.endswith("PriorityWeightPartition=7, and 1 more)")
    assert len(policy.name) <= 200


def test_without_a_value_slurm_has_its_defaults(tmp_path: Path) -> None:
    slurm = Policy.named("slurm")
    assert from_text(tmp_path, "name: slurm\nbackfill: slurm\nslurm: null\n") == slurm
    assert Policy(name="slurm", backfill="slurm", slurm=None) == slurm
    assert Policy.named("easy").with_settings({"policy.slurm": "null"}) == Policy.named("easy")
    changed = slurm.with_settings({"policy.slurm.bf_interval": "7"})
    assert changed.slurm.bf_interval == 7
    assert changed.name == "slurm (bf_interval=7)"
    assert changed.with_settings({"policy.slurm": "null"}).slurm == slurm.slurm
    both = changed.with_settings({"policy.slurm": None, "policy.slurm.KillWait": "5"})
    assert (both.slurm.KillWait, both.slurm.bf_interval) == (5, 30)
    with pytest.raises(ConfigError, match=r"slurm=3: found 3; allowed: a mapping with the keys .* more$"):
        slurm.with_settings({"policy.slurm": 3, "policy.slurm.KillWait": "5"})


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ({"PriorityMaxAge": "UNLIMITED"}, {"PriorityMaxAge": None}),
        ({"PriorityMaxAge": "1-0", "PriorityCalcPeriod": "5m"}, {"PriorityMaxAge": 86400}),
        ({"PriorityDecayHalfLife": "14-0"}, {"PriorityDecayHalfLife": 14 * 86400}),
        ({"PriorityDecayHalfLife": 0}, {"PriorityDecayHalfLife": 0}),
        ({"PriorityDecayHalfLife": "UNLIMITED"}, {"PriorityDecayHalfLife": 0}),
        ({"PriorityFlags": "fair_tree, incr_only"}, {"PriorityFlags": ("FAIR_TREE", "INCR_ONLY")}),
        ({"PriorityFlags": "NO_NORMAL_ALL"}, {"PriorityFlags": NOT_NORMALISED}),
        ({"PriorityWeightTRES": "CPU=1000,Mem=500"}, {"PriorityWeightTRES": {"cpu": 1000.0, "mem": 500.0}}),
        ({"accounts": {"a": {"shares": "parent", "users": {"u": 3}}}}, {}),
        ({"bf_interval": 7, "launch_s": 2, "version": 19.05}, {"launch_s": 2, "version": "19.05"}),
    ],
)
def test_parameters_of_slurm_come_back(written: dict[str, object], kept: dict[str, object]) -> None:
    """A policy is written into results and read again; changing one key leaves the others."""
    policy = Policy(backfill="slurm", slurm={"PriorityType": "priority/multifactor"} | written)
    assert {name: getattr(policy.slurm, name) for name in kept} == kept
    assert Policy(**policy.to_dict()) == policy
    again = policy.with_settings({"policy.slurm.bf_window": "77"})
    assert again.slurm == policy.slurm.model_copy(update={"bf_window": 77})


@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        (
            "bf_intervall",
            "unknown key; allowed: those of docs/reference/slurm.md (did you mean 'bf_interval'?)",
        ),
        ("prioritymaxage", "unknown key; allowed: those of docs/reference/slurm.md (did you mean 'Priority"),
        (
            "BF_Interval",
            "unknown key; allowed: those of docs/reference/slurm.md (did you mean 'bf_interval'?)",
        ),
        ("bf_yield_intervall", "(did you mean 'bf_yield_interval'?)"),
        ("zzz", "slurm.zzz: unknown key; allowed: those of docs/reference/slurm.md"),
        (
            "bf_max_time",
            "a parameter of Slurm that changes nothing here: a pass takes no time here, so it is ",
        ),
        (
            "max_rpc_cnt",
            "a parameter of Slurm that changes nothing here: a pass takes no time here, so it is ",
        ),
        ("bf_busy_nodes", "a parameter of Slurm that is not modelled; allowed: to leave it out"),
        (
            "preempt_send_user_signal",
            "a parameter of Slurm that is not modelled: preemption where jobs share cores",
        ),
        ("bf_hetjob_prio", "a parameter of Slurm that is not modelled: components of heterogeneous jobs are"),
        (
            "SlurmctldPort",
            "a parameter of Slurm that changes nothing here: the location of daemons, files and networks",
        ),
    ],
)
def test_parameters_that_are_no_keys(parameter: str, message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        Policy(backfill="slurm", slurm={parameter: 3})
    assert message in str(raised.value)
    assert len(raised.value.problems) == 1


@pytest.mark.parametrize("written", ["gres/gpu=5", "CPU=1,foo=3", "CPU=-1", "CPU=inf", "CPU"])
def test_weights_of_resources_that_do_not_count(written: str) -> None:
    keys = {"PriorityType": "priority/multifactor", "PriorityWeightTRES": written}
    with pytest.raises(ConfigError, match="allowed: weights of cpu, mem, node, billing, such as CPU=1000"):
        Policy(backfill="slurm", slurm=keys)


MISTAKES = [
    (
        "order: sjff",
        "1: order: found 'sjff'; allowed: fifo, sjf, ljf, smallest, "
        "largest, wfp3, unicef, f1, f2, f3, f4, "
        "path.py:function (did you mean 'sjf'?)",
    ),
    ("order: 3", "1: order: found 3; allowed: fifo, sjf"),
    ("order: multifactor", "1: order: found 'multifactor'; allowed: fifo, sjf, "),
    ("backfill: slurm\norder: multifactor", "2: order: found 'multifactor'; allowed: fifo, sjf, "),
    (
        "backfill: eazy",
        "1: backfill: found 'eazy'; allowed: none, easy, conservative, first_fit, slurm, scheduler "
        "(did you mean 'easy'?)",
    ),
    ("slurm: {bf_interval: 30}", "1: slurm: found a mapping beside backfill: none; allowed: only with "),
    ("bf_interval: 30", "1: bf_interval: unknown key; allowed: slurm.bf_interval, as all parameters of"),
    ("backfill: slurm\noverrun_s: 60", "2: overrun_s: found 60 beside backfill: slurm; allowed: only with"),
    ("backfill: slurm\npasses: event", "2: passes: found 'event' beside backfill: slurm; allowed: only "),
    ("backfill: slurm\nplacement: preferred", "2: placement: found 'preferred' beside backfill: slurm; "),
    ("backfill: slurm\norder: sjf", "2: order: found 'sjf' beside backfill: slurm; allowed: only with "),
    ("backfill: slurm\nslurm: 3", "2: slurm: found 3; allowed: a mapping with the keys version, "),
    ("\nbackfil: easy", "2: backfil: unknown key; allowed: name, order, backfill, scheduler, "),
    ("backfill: easy\ndepth: 0", "2: depth: found 0; allowed: an integer >= 1"),
    ("backfill: easy\ndepth: all", "2: depth: found 'all'; allowed: an integer >= 1"),
    ("backfill: easy\nextra_rule: 7", "2: extra_rule: found 7; allowed: true, false"),
    ("overrun_s: -1", "1: overrun_s: found -1; allowed: an integer >= 0"),
    ("passes: evnt", "1: passes: found 'evnt'; allowed: instant, event (did you mean 'event'?)"),
    ("placement: first", "1: placement: found 'first'; allowed: preferred, first_available, "),
    ("depth: 2", "1: depth: found 2 beside backfill: none; allowed: only with backfill: easy"),
    ("backfill: conservative\ndepth: 2", "2: depth: found 2 beside backfill: conservative; "),
    ("backfill: easy\nreplan: keep", "2: replan: found 'keep' beside backfill: easy; allowed: only with "),
    (
        "backfill: conservative\nbackfill_order: sjf",
        "2: backfill_order: found 'sjf' beside "
        "backfill: conservative; allowed: only with backfill: easy or backfill: first_fit",
    ),
    ("backfill: first_fit\nextra_rule: false", "2: extra_rule: found false beside backfill: first_fit"),
    ("backfill: conservative\ncandidate_time: run", "2: candidate_time: found 'run' beside backfill: "),
    ("shadow: static", "1: shadow: found 'static' beside backfill: none; allowed: only with backfill: easy"),
    ("backfill: easy\ndepth: 3\nshadow: static", "3: shadow: found 'static' beside depth: 3; allowed: "),
    ("policy:\n  order: sjff", "2: policy.order: found 'sjff'"),
    ("policy:\n  order: sjf\norder: sjf", "3: order: unknown key beside policy; allowed: policy"),
    ("order: nowhere.py:f", "1: order: found 'nowhere.py:f'; no such file: "),
]


@pytest.mark.parametrize(("text", "message"), MISTAKES)
def test_each_mistake_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        from_text(tmp_path, text + "\n")
    assert f"file.yaml:{message}" in str(raised.value)
    assert len(raised.value.problems) == 1


def test_keys_at_their_default_contradict_nothing() -> None:
    for backfill in BACKFILLS:
        needed = {"scheduler": "own.py:Own"} if backfill == "scheduler" else {}
        assert Policy(**{**DEFAULTS, "backfill": backfill, **needed}).backfill == backfill


def test_all_mistakes_are_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as raised:
        from_text(tmp_path, "order: x\nbackfill: conservative\ndepth: 2\npasses: y\ntypo: 1\n")
    assert [problem.split(":")[1] for problem in raised.value.problems] == ["1", "3", "4", "5"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"policy.dept": "2"}, r"^--set policy.dept=2: unknown key; allowed: .*\(did you mean 'depth'\?\)$"),
        ({"policy.depth": "two"}, r"^--set policy.depth=two: found 'two'; allowed: an integer >= 1$"),
        ({"workload.x": "1"}, r"^--set workload.x=1: unknown key"),
        (
            {"policy.backfill": "slurm"},
            r"^with --set policy.backfill=slurm: policy.depth: found 2 beside backfill: slurm; ",
        ),
        (
            {"policy.slurm.bf_interval": "5"},
            r"^with --set policy.slurm.bf_interval=5: policy.slurm: found a mapping beside backfill: easy; ",
        ),
        (
            {"policy.backfill": "none"},
            r"^with --set policy.backfill=none: policy.depth: found 2 beside backfill: none",
        ),
        ({"policy.order": "nowhere.py:f"}, r"^--set policy.order=nowhere.py:f: .*no such file: nowhere.py$"),
    ],
)
def test_wrong_settings(settings: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Policy(backfill="easy", depth=2).with_settings(settings)


def test_a_policy_built_in_python_is_checked_too() -> None:
    with pytest.raises(ConfigError, match="policy: passes: found 'x'; allowed: instant, event"):
        Policy(passes="x")
    with pytest.raises(ConfigError, match="policy: depth: found 2 beside backfill: none"):
        Policy(depth=2)


def by_size(nodes: int) -> float:
    return -nodes


def test_an_order_of_ones_own_from_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The path is relative to the policy file; in a setting, to the current directory."""
    (tmp_path / "orders.py").write_text("def double(x):\n    return 2 * x\nnot_one = 3\n")
    policy = from_text(tmp_path, "order: orders.py:double\nbackfill: easy\n")
    assert policy.order == "orders.py:double"
    assert policy.to_dict()["order"] == "orders.py:double"
    function = policy.order_function()
    assert function is not None
    assert function(2) == 4
    deeper = policy.with_settings({"policy.depth": "2"})
    assert deeper.order_function() is not None
    monkeypatch.chdir(tmp_path)
    candidates = Policy.named("easy").with_settings({"policy.backfill_order": "orders.py:double"})
    assert candidates.backfill_order_function() is not None
    assert candidates.order_function() is None
    for name, message in (("missing", "has no function 'missing'"), ("not_one", "has no function 'not_one'")):
        with pytest.raises(ConfigError, match=message):
            Policy(order=f"orders.py:{name}").order_function()
    (tmp_path / "broken.py").write_text("1 / 0\n")
    with pytest.raises(ConfigError, match=r"policy.order: broken\.py fails: ZeroDivisionError"):
        Policy(order="broken.py:f").order_function()
    with pytest.raises(ConfigError, match=r"policy.order: no such Python file: gone\.py"):
        Policy(order="gone.py:f").order_function()


def test_an_order_of_ones_own_from_python() -> None:
    policy = Policy(order=by_size, backfill="easy")
    assert policy.order_function() is by_size
    assert policy.to_dict()["order"] == f"{__name__}:by_size"
    assert policy.with_settings({"policy.depth": "2"}).order is by_size
