"""The page of a search: the front, the mixes, the confidence, how to repeat it."""

from __future__ import annotations

import json
import re
from html import unescape

import pandas as pd
import pytest

from scheduler_sim import Study
from scheduler_sim.cli.main import main
from scheduler_sim.errors import InputError
from scheduler_sim.report.html import write_report
from scheduler_sim.report.html.search_page import Searched
from scheduler_sim.study.search import search
from tests.study.test_search import study

SEARCH = {"budget": 60, "step": 20, "rest": "ESB", "first_seeds": 3, "most_seeds": 12}
FRONT = {**SEARCH, "metrics": ["wait_time_mean", "cost"], "budget": [30, 60]}


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    """A search of one metric, in its directory."""
    return search(study(), tmp_path_factory.mktemp("one"))


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """A search for a front."""
    return search(study(search=FRONT), tmp_path_factory.mktemp("two"))


def page(found):
    return write_report(found.directory).read_text(encoding="utf-8")


def data(text):
    return json.loads(re.search(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.S)[1])


def test_the_command_writes_a_page(one, capsys):
    assert main(["report", str(one.directory)]) == 0
    assert "report.html" in capsys.readouterr().out
    assert "<title>Search: study" in page(one)
    assert page(one) == page(one)


def test_the_best_is_named_with_its_confidence(one):
    text = page(one)
    assert re.search(r"<strong>CM 60 \(placement \w+\)</strong> is the best found: mean wait 67.7 s", text)
    assert "With 95 % confidence the best of all is among those left" in text
    assert Searched.load(one.directory).loss == pytest.approx(one.loss)


def test_the_chart_has_what_the_table_has(one):
    drawn = data(page(one))["mixes"]
    feasible = one.table[one.table["state"] != "infeasible"]
    assert drawn["axes"] == ["mean wait above the best found [min]"]
    assert [row["above"] * 60 for row in drawn["rows"]] == pytest.approx(feasible["above"].tolist())
    assert [row["kind"] == "dropped" for row in drawn["rows"]] == (feasible["state"] == "dropped").tolist()


def test_the_front(two):
    text, drawn = page(two), data(page(two))["mixes"]
    on = two.table[two.table["front"]]
    assert f"{len(on)} of those left are on the front of mean wait and cost" in text
    points = sorted((p["x"] * 3600, p["y"]) for p in drawn["points"] if p["kind"] == "front")
    assert points == [pytest.approx(p) for p in sorted(zip(on["wait_time_mean"], on["cost"], strict=True))]


@pytest.mark.parametrize("which", [pytest.param("one", marks=pytest.mark.long), "two"])
def test_the_page_repeats_the_search(which, request, tmp_path):
    found = request.getfixturevalue(which)
    written = next(
        json.loads(unescape(block))
        for block in re.findall(
            r"<pre[^>]*><code>(.*?)</code></pre>|<pre[^>]*>(.*?)</pre>", page(found), re.S
        )
        for block in block
        if block.lstrip().startswith("{")
    )
    again = search(Study.of(**written), tmp_path / "again")
    pd.testing.assert_frame_equal(again.table, found.table)


def test_directories_that_are_no_finished_search(one, tmp_path):
    (tmp_path / "search.json").write_bytes((one.directory / "search.json").read_bytes())
    with pytest.raises(InputError, match=r"is not a finished study: search.parquet is missing"):
        write_report(tmp_path)
    one.table.drop(columns="above_low").to_parquet(tmp_path / "search.parquet")
    with pytest.raises(InputError, match=r"search.parquet: not the table of this search"):
        write_report(tmp_path)
    (tmp_path / "search.json").write_text('{"name": "x", "factors": 3}')
    with pytest.raises(InputError, match=r"search.json: not a document .*: factors is 3, not a list"):
        write_report(tmp_path)


def test_names_are_text(one, tmp_path):
    name = "<img src=x onerror=alert(1)>"
    document = json.loads((one.directory / "search.json").read_text())
    (tmp_path / "search.json").write_text(json.dumps({**document, "name": name}))
    one.table.assign(system=name).to_parquet(tmp_path / "search.parquet")
    text = write_report(tmp_path).read_text(encoding="utf-8")
    assert "<img" not in re.sub(r"<script.*?</script>", "", text, flags=re.S)
