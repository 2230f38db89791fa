"""The HTML report as text: nothing of a trace is read as HTML, the same bytes again, small enough."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from scheduler_sim import Policy, Result, System, Workload, simulate
from scheduler_sim.errors import InputError, SchedulerSimError
from scheduler_sim.report.html import write_report
from scheduler_sim.report.html.markup import Markup, json_text, script_text, table, tag
from scheduler_sim.report.html.pack import Growing, numbers, pack, words
from scheduler_sim.report.html.run_data import MOST_STORIES
from scheduler_sim.study.conduct import conduct
from scheduler_sim.study.study import Study
from tests.conftest import ROOT
from tests.report.schedules import EASY, behind_a_shadow, schedule
from tests.result.hand_made import Run
from tests.study.studies import RECIPE, small

HOSTILE = (
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(2)>",
    "<!--<script>",
    "$x$ ${title} $title",
    "\"quotes' & <b>bold</b>",
    "abc\u202egnp.exe\u200f",
    "\u2028line\x00\x1b[31m",
)


def hostile():
    """Return a result whose names are an attack, each on a component of its own."""
    runs = [Run(i, i * 10, 10, 2, module="<b>M</b>") for i in range(len(HOSTILE))]
    result = schedule(runs, {"<b>M</b>": 4}, {**EASY, "name": HOSTILE[1]})
    for column in ("name", "user", "app"):
        result.components[column] = pd.Categorical(HOSTILE)
    result.manifest["system"] = {"name": HOSTILE[0]}
    result.manifest["inputs"] = [
        {"role": role, "name": HOSTILE[i], "sha256": HOSTILE[2]}
        for i, role in enumerate(("system", "workload"))
    ]
    reserved = {"start": 0, "end": 20, "every_s": 0, "nodes": {"<b>M</b>": "0-1"}}
    result.manifest["reserved"] = [{"name": name, "flags": []} | reserved for name in HOSTILE]
    result.manifest["reserved"].append({"name": HOSTILE[0], "flags": []})
    for column in ("reservation", "reservation_reason"):
        result.components[column] = pd.Categorical([""] * len(HOSTILE))
    return result


def report(result, folder):
    """Write a result and its report; return the text."""
    result.save(folder)
    return write_report(folder).read_text(encoding="utf-8")


class Elements(HTMLParser):
    """Counts elements, and keeps what attributes there are and the texts of scripts."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.names, self.attributes, self.scripts, self.text = [], [], [], []
        self.inside = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]
        self.inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        self.inside = ""

    def handle_data(self, data):
        if self.inside == "script":
            self.scripts[-1] += data
        else:
            self.text.append(data)

    def value(self, tag, name):
        return [value for element, key, value in self.attributes if (element, key) == (tag, name)]


def unpacked(text):
    """Read the packed columns of a page, by the rules that its own script follows."""
    whole = gzip.decompress(base64.b64decode(text))
    length = int.from_bytes(whole[:4], "little")
    place, columns = 4 + length, {}
    for entry in json.loads(whole[4:place]):
        values = np.frombuffer(whole, "<" + entry["type"], entry["length"], place)
        place += -(-values.nbytes // 8) * 8
        values = np.cumsum(values, dtype=np.int64) if entry.get("growing") else values
        columns[entry["name"]] = [entry["words"][i] for i in values] if "words" in entry else values.tolist()
    return columns


# Markup


def test_text_and_attributes_are_escaped():
    element = tag(
        "p", "<b> & 'c'", ["<i>", tag("br")], title='"><script>', class_="x", hidden=True, lang=None
    )

    assert element == (
        '<p title="&quot;&gt;&lt;script&gt;" class="x" hidden>&lt;b&gt; &amp; &#x27;c&#x27;&lt;i&gt;<br></p>'
    )


def test_a_table_escapes_its_cells_and_says_what_is_sorted():
    html = table("<cap>", ["a", "<n>"], [["<x>", "1 s"]], keys=[["<x>", 1.0]])

    assert "<cap>" not in html
    assert "<x>" not in html
    assert '<td class="number" data-key="1.0">1 s</td>' in html
    assert isinstance(html, Markup)


@pytest.mark.parametrize("text", HOSTILE)
def test_data_in_a_script_element_cannot_leave_it(text):
    written = json_text({text: [text]})

    assert not re.search(r"[<>&\u2028\u2029]", written)
    assert json.loads(written) == {text: [text]}


@pytest.mark.parametrize("text", ["a </SCRIPT> b", "<!-- <script>"])
def test_a_script_that_would_break_the_page_is_refused(text):
    with pytest.raises(SchedulerSimError, match="cannot stand in HTML"):
        script_text(text)


# Packing


def test_columns_come_back_as_they_were():
    many = np.array([0, 5, 5, 70000, 2**40], dtype=np.int64)
    columns = {
        "narrow": np.array([-1, 127], dtype=np.int64),
        "wide": many,
        "growing": Growing(many),
        "none": np.zeros(0, dtype=np.int64),
        "text": words(pd.Series(["b", "", "a", "b", "\u202eü\x1b"], dtype="category")),
        "id": numbers(np.array([2**60 + 1, 3], dtype=np.int64)),
    }

    back = unpacked(pack(columns))

    assert back["narrow"] == [-1, 127]
    assert back["wide"] == back["growing"] == many.tolist()
    assert back["none"] == []
    assert back["text"] == ["b", "", "a", "b", "ü"]
    assert back["id"] == [str(2**60 + 1), "3"]


# Pages


def test_hostile_names_add_no_element_and_no_attribute(tmp_path):
    page = Elements(report(hostile(), tmp_path / "hostile"))

    assert page.names.count("script") == 5  # data, packed columns, Bokeh twice, ours
    assert not {"img", "b", "i"} & set(page.names)
    assert not [key for _, key, _ in page.attributes if key.startswith("on")]
    assert "alert(1)" in "".join(page.text)  # as text
    shown = "".join([*page.text, page.scripts[0], *map(str, unpacked(page.scripts[1]).values())])
    assert not set("\u202e\u200f\x00\x1b") & set(shown)
    assert "abc gnp.exe" in shown
    assert "$x$ ${title} $title" in shown


def test_the_page_may_run_its_own_scripts_and_load_nothing(tmp_path):
    page = Elements(report(behind_a_shadow(), tmp_path / "run"))
    (policy,) = [value for value in page.value("meta", "content") if "default-src" in value]

    digests = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in page.scripts[2:]]
    script = " ".join(f"'sha256-{digest}'" for digest in digests)
    assert policy.startswith(f"default-src 'none'; script-src {script}; ")
    assert "unsafe-eval" not in policy
    assert not {"link", "iframe", "img"} & set(page.names)
    assert not [key for _, key, _ in page.attributes if key in ("src", "srcset", "action")]


def test_the_same_result_gives_the_same_bytes(tmp_path):
    first = report(behind_a_shadow(), tmp_path / "one")
    again = report(behind_a_shadow(), tmp_path / "two")

    assert first == again
    assert str(tmp_path) not in first


def test_the_page_says_what_came_of_it_and_how_to_repeat_it(tmp_path):
    result = behind_a_shadow({**EASY, "name": "easy (depth=2)"})
    result.manifest |= {
        "seed": 7,
        "system": {"name": "ten nodes"},
        "inputs": [
            {"role": "system", "name": "ten nodes.yaml", "sha256": "a" * 64},
            {"role": "workload", "name": "four.swf", "sha256": "b" * 64},
        ],
    }
    text = "".join(Elements(report(result, tmp_path / "run")).text)

    assert "four.swf on ten nodes under easy (depth=2)" in text
    assert "All 4 components ran, within 0:06:40." in text
    assert "50 % of them started at once; the mean wait was 0:01:08, the longest 0:03:00." in text
    command = (
        "scheduler-sim run 'ten nodes.yaml' four.swf --policy easy --set policy.depth=2 --seed 7 --out result"
    )
    assert command in text
    assert "a" * 64 in text


def test_all_jobs_are_in_the_page_and_the_longest_waits_are_explained(tmp_path):
    page = Elements(report(behind_a_shadow(), tmp_path / "run"))
    columns = unpacked(page.scripts[1])
    data = json.loads(page.scripts[0])

    assert columns["id"] == [1, 2, 3, 4]
    assert columns["user"] == ["ada", "ben", "cy", "dan"]
    assert columns["wait"] == [0, 90, 180, 0]
    assert columns["stay"] == [100, 190, 380, 50]
    assert columns["run_row"] == [0, 1, 2, 3]
    assert set(data["stories"]) == {"1", "2"}
    assert "It sat behind the reservation of component 2" in " ".join(data["stories"]["2"].split())
    # busy: 8 at once, 10 at 30 s, 8 at 80 s, 9 at 100 s, 2 at 200 s, none at 400 s
    assert columns["line_time"] == [0, 10, 20, 30, 80, 100, 200, 400]
    assert columns["line_busy"] == [8, 8, 8, 10, 8, 9, 2, 0]


def test_of_components_with_one_id_the_first_is_explained(tmp_path):
    result = behind_a_shadow()
    result.components["component_id"] = [1, 2, 2, 4]
    data = json.loads(Elements(report(result, tmp_path / "run")).scripts[0])

    assert list(data["stories"]) == ["1"]  # row 2 has the id of row 1, the others did not wait
    assert "user ben" in data["stories"]["1"]


@pytest.mark.parametrize(
    "runs",
    [
        [],
        [Run(5, 5, 1, 1)],
        [Run(5, 5, 0, 1)],
        [Run(5, None, 9, 1, state="PENDING")],
        [Run(5, None, 9, 99, state="REJECTED"), Run(6, 8, 9, 2)],
    ],
    ids=["empty", "one", "one for no time", "none ran", "one rejected"],
)
def test_odd_results_have_a_page_too(runs, tmp_path):
    page = Elements(report(schedule(runs, {"CM": 4}, EASY), tmp_path / "run"))

    assert len(unpacked(page.scripts[1])["id"]) == len(runs)
    assert "nan" not in "".join(page.text).lower().split()


def test_some_that_never_started_are_explained(tmp_path):
    runs = [Run(5, None, 9, 99, state="REJECTED"), Run(6, 6, 9, 2), Run(7, None, 9, 4, state="PENDING")]
    data = json.loads(Elements(report(schedule(runs, {"CM": 4}, EASY), tmp_path / "run")).scripts[0])

    assert list(data["stories"]) == ["0", "2"]
    assert "it asked for 99 nodes, and CM has 4" in " ".join(data["stories"]["0"].split())
    assert "It never started" in data["stories"]["2"]


def test_every_place_a_label_speaks_of_is_there_once(tmp_path):
    page = Elements(report(behind_a_shadow(), tmp_path / "run"))
    ids = [value for _, key, value in page.attributes if key == "id"]

    named = [value for _, key, value in page.attributes if key in ("aria-labelledby", "for")]
    assert len(ids) == len(set(ids))
    assert set(named) <= set(ids)
    assert [name for name in page.names if re.fullmatch("h[1-6]", name)][:2] == ["h1", "h2"]
    assert page.value("html", "lang") == ["en"]


def test_a_directory_that_is_neither_run_nor_study_is_refused(tmp_path):
    with pytest.raises(InputError, match="manifest"):
        write_report(tmp_path)


def test_the_file_may_be_named_but_not_be_a_directory(tmp_path):
    behind_a_shadow().save(tmp_path / "run")

    assert write_report(tmp_path / "run", tmp_path / "x.html").read_text().startswith("<!doctype html>")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run", "x.html"]
    with pytest.raises(InputError, match="is a directory"):
        write_report(tmp_path / "run", tmp_path)
    with pytest.raises(SchedulerSimError, match="cannot write"):
        write_report(tmp_path / "run", tmp_path / "none" / "x.html")


@pytest.mark.long
def test_a_hundred_thousand_jobs_stay_below_ten_megabytes(tmp_path):
    random = np.random.default_rng(3)
    number, nodes = 100_000, 64
    submit = np.sort(random.integers(0, 10**8, number))
    run = random.integers(1, 40_000, number)
    table = schedule([Run(0, 0, 1, 1)], {"CM": nodes}, EASY)
    assert number > MOST_STORIES
    start, busy = submit + random.integers(0, 10**5, number), np.zeros(nodes, dtype=np.int64)
    for i in range(number):  # a node each, the one that is free first
        node = int(busy.argmin())
        start[i] = max(start[i], busy[node])
        busy[node] = start[i] + run[i]
    columns = table.components.iloc[np.zeros(number, dtype=int)].reset_index(drop=True)
    waited = start - submit
    columns = columns.assign(
        component_id=np.arange(number), modular_job_id=np.arange(number), submit_time=submit,
        eligible_time=submit, start_time=start, end_time=start + run, run_time=run, time_limit=2 * run,
        wait_priority=waited, name=pd.Categorical([f"job-{n:x}" for n in random.integers(0, 2**62, number)]),
        user=pd.Categorical([f"user{n}" for n in random.integers(0, 500, number)]),
    )  # fmt: skip
    times = np.unique(np.concatenate((start, start + run)))
    steps = table.timeline.iloc[np.zeros(len(times), dtype=int)].reset_index(drop=True)
    table.components, table.timeline = (
        columns,
        steps.assign(time=times, module=pd.Categorical(["CM"] * len(times))),
    )

    assert len(report(table, tmp_path / "run").encode()) < 10_000_000


# Repeating


def repeated(page):
    """Return the run of the study file that a page gives."""
    (run,) = Study.of(**json.loads(next(part for part in page.text if '"workloads"' in part))).runs()
    return run


def test_a_recipe_run_of_a_study_is_repeated_by_its_page(tmp_path):
    parameters = {"recipe.model.arrivals.offered_load": [1 / 3], "system.modules.cluster.nodes": [80]}
    policies = {"two": {"policy": "easy", "set": {"policy.depth": 2}}}
    study = small(seeds=[3], policies=policies, parameters=parameters)
    conduct(study, tmp_path / "study")
    place = tmp_path / "study" / "runs" / study.runs()[0].id
    page = Elements(write_report(place).read_text(encoding="utf-8"))
    assert "from Python" not in "".join(page.text)
    assert "scheduler-sim study run.yaml --out again" in "".join(page.text)
    assert repeated(page).id == place.name


def test_a_trace_run_of_a_study_is_repeated_by_its_page(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT / "workloads")
    study = small(workloads={"s": "sample-1000.swf"}, policies=["easy"], honour_status=True,
                  systems={"s": {"modules": [{"name": "cluster", "nodes": 128}]}})  # fmt: skip
    conduct(study, tmp_path / "study")
    place = tmp_path / "study" / "runs" / study.runs()[0].id
    page = Elements(write_report(place).read_text(encoding="utf-8"))
    assert "With the study file below and the inputs above this command repeats it" in "".join(page.text)
    assert repeated(page).id == place.name


def test_a_run_from_python_is_repeated_where_it_can_be(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT / "workloads")
    result = simulate(System.homogeneous(128), "sample-1000.swf", "easy", seed=5)
    run = repeated(Elements(report(result, tmp_path / "run")))
    assert (run.seed, run.policy.backfill, run.system) == (5, "easy", result.manifest["system"])
    made = simulate(System.homogeneous(8), Workload.from_columns(nodes=[1], submit_time=[0], run_time=[5]))
    text = "".join(Elements(report(made, tmp_path / "made")).text)
    assert "no command repeats it" in text
    assert "scheduler-sim study" not in text
    ordered = simulate(System.homogeneous(128), "sample-1000.swf", Policy(order=by_nodes))
    assert "no command repeats it" in "".join(Elements(report(ordered, tmp_path / "ordered")).text)


def by_nodes(nodes):
    return nodes


def test_a_key_given_back_its_default_is_repeated_too(tmp_path, monkeypatch):
    """``--set`` writes null where the policy's name says default."""
    monkeypatch.chdir(ROOT / "workloads")
    policy = Policy(order="fifo", backfill="easy", depth=2, name="two").with_settings({"policy.depth": None})
    system = str(ROOT / "configs" / "systems" / "cluster-128.yaml")
    page = Elements(report(simulate(system, "sample-1000.swf", policy), tmp_path / "run"))
    assert "policy.depth=default" not in "".join(page.text)
    assert repeated(page).policy.depth is None


# Studies


def conducted(folder, **changes):
    """Carry out a small study of fcfs and easy; return it and the elements of its page."""
    study = small(**{"baseline": {"policy": "easy"}, "seeds": 5, **changes})
    conduct(study, folder)
    return study, Elements(write_report(folder).read_text(encoding="utf-8"))


def test_a_study_is_summed_up_compared_and_repeated(tmp_path):
    study, page = conducted(tmp_path / "study")
    text = "".join(page.text)
    index = pd.read_parquet(tmp_path / "study" / "index.parquet")
    comparison = pd.read_parquet(tmp_path / "study" / "comparison.parquet")

    assert "10 runs: policy (2) × seed (5); all finished." in text
    assert f"fcfs against easy: mean wait {comparison['verdict'].iloc[0]}." in text
    forests = json.loads(page.scripts[0])["forests"]
    assert [one["place"] for one in forests] == ["forest-0", "forest-1", "forest-2"]
    assert forests[0]["rows"][0]["ratio"] == comparison["ratio"].iloc[0]
    means = index.groupby("policy", sort=False)["wait_time_mean"].mean()
    assert {str(mean) for mean in means} <= set(page.value("td", "data-key"))
    written = json.loads(next(part for part in page.text if part.startswith("{")))
    assert [run.id for run in Study.of(**written).runs()] == [run.id for run in study.runs()]


def test_means_of_blocks_are_told_from_those_of_the_whole_trace(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT / "workloads")
    metrics = ["wait_time_p99"]
    _, page = conducted(tmp_path / "study", workloads={"s": "sample-1000.swf"}, seeds=1, metrics=metrics)
    text = " ".join(page.text)
    assert "the means compared are those of its blocks, not the values of the whole trace" in text
    assert "ratio of the means of blocks of time" in text
    assert {"mean of blocks", "the baseline's"} <= set(page.text)
    _, seeds = conducted(tmp_path / "seeds")
    assert "blocks" not in " ".join(seeds.text)
    assert {"mean", "the baseline's"} <= set(seeds.text)


def test_a_recipe_with_many_digits_is_repeated_to_the_last_one(tmp_path):
    """Rounded, the study of the page had other jobs than the one that was carried out."""
    load = 0.8 + 1e-7 / 3
    changed = {"model": {"arrivals": {"site": "ctc", "process": "poisson", "offered_load": load}}}
    study, page = conducted(tmp_path / "study", workloads={"like": {"recipe": RECIPE | changed}}, seeds=2)
    written = json.loads(next(part for part in page.text if part.startswith("{")))
    assert [run.id for run in Study.of(**written).runs()] == [run.id for run in study.runs()]
    manifest = Result.load(tmp_path / "study" / "runs" / study.runs()[0].id).manifest
    assert manifest["run"]["workload"]["recipe"]["model"]["arrivals"]["offered_load"] == load


def test_slices_have_tables_of_their_own(tmp_path):
    _, page = conducted(tmp_path / "study", slices=["size", "user"], metrics=["wait_time_mean"])
    text = "".join(page.text)
    assert "Which jobs gain and which lose" in text
    assert "By size" in text
    assert "By user" in text
    assert re.search("fcfs, mean wait: better for [^;]+; worse for [^;]+; no certain difference for ", text)
    assert page.names.count("details") == 3  # two tables, and the study file


def test_what_is_not_trimmed_says_so(tmp_path):
    metrics = ["wait_time_mean", "makespan", "counts_completed"]
    _, page = conducted(tmp_path / "study", metrics=metrics, trim={"warm_up": 10})
    text = " ".join(page.text)
    assert "counts completed (whole run)" in text
    assert text.count("(whole run)") == text.count("counts completed (whole run)")


def test_a_ratio_of_zero_is_drawn_and_one_comparison_is_one(tmp_path):
    """Nobody is overtaken under fcfs: a ratio of 0, which was counted and not drawn."""
    _, page = conducted(tmp_path / "study", metrics=["overtaken_share"])
    (forest,) = json.loads(page.scripts[0])["forests"]
    assert [row["kind"] for row in forest["rows"]] == ["better"]
    assert forest["ends"][0] <= forest["rows"][0]["ratio"] < 1
    assert "At the left edge: 1 ratio of 0." in "".join(page.text)
    assert "Not drawn" not in "".join(page.text)


def test_one_seed_is_one_seed(tmp_path):
    _, page = conducted(tmp_path / "study", seeds=[7])
    assert "(7 to 7)" not in "".join(page.text)


def test_why_nothing_was_compared_is_told(tmp_path):
    _, page = conducted(tmp_path / "study", policies=["easy"], seeds=1)
    text = "".join(page.text)
    assert "policy has no level but the baseline, easy" in text
    assert "compared with" not in text


def test_without_a_baseline_there_are_means_alone(tmp_path):
    _, page = conducted(tmp_path / "study", baseline={}, seeds=2)
    text = "".join(page.text)

    assert "names no baseline" in text
    assert "Means over the runs of each combination" in text
    assert json.loads(page.scripts[0])["forests"] == []


def test_failed_runs_are_listed_with_their_errors(tmp_path):
    conducted(tmp_path / "study")
    index = pd.read_parquet(tmp_path / "study" / "index.parquet")
    index.loc[3, ["state", "error"]] = "failed", HOSTILE[1]
    index.to_parquet(tmp_path / "study" / "index.parquet")
    page = Elements(write_report(tmp_path / "study").read_text(encoding="utf-8"))
    text = "".join(page.text)

    assert "10 runs: policy (2) × seed (5); 1 did not finish." in text
    assert text.count(HOSTILE[1]) == 1
    assert index["id"][3] in text
    assert "img" not in page.names


def test_a_study_gives_the_same_bytes_and_names_no_place(tmp_path):
    conducted(tmp_path / "one", seeds=2)
    conducted(tmp_path / "two", seeds=2)
    one, two = (write_report(tmp_path / name).read_text() for name in ("one", "two"))

    assert one == two
    assert str(tmp_path) not in one


def test_a_study_that_has_not_got_far_is_refused(tmp_path):
    conducted(tmp_path / "study", seeds=2)
    (tmp_path / "study" / "index.parquet").unlink()

    with pytest.raises(InputError, match="not a finished study"):
        write_report(tmp_path / "study")


def test_what_speaks_against_a_run_is_said_first(tmp_path):
    result = schedule([Run(0, 0, 60, 2), Run(10, 60, 60, 4)], {"CM": 4}, EASY)
    result.metrics["counts"]["not_honoured"] = {"gpus": 3, "<b>": 1}
    text = report(result, tmp_path / "run")
    head = text[: text.index(">Results<")]
    assert "<strong>Not honoured: </strong>3 lines: components that ask for GPUs" in head
    assert "<strong>Not honoured: </strong>1 line: &lt;b&gt;" in head
    assert "<strong>Warning: </strong>the offered load on module CM is 9.00" in head
    quiet = report(schedule([Run(0, 0, 60, 2)], {"CM": 4}, EASY), tmp_path / "quiet")
    assert "Warning" not in quiet[: quiet.index(">Results<")]
