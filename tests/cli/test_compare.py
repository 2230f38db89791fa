"""``scheduler-sim compare``."""

from __future__ import annotations

import re

import pytest

from tests.conftest import SHARED, needs_shared

pytestmark = pytest.mark.interpreted


@pytest.fixture
def recorded(tmp_path):
    """Write a trace of three days in SWF in which everybody waited 90 s longer than first fit makes them."""

    def write(name="trace.swf", wait=90):
        lines = [
            f"{i + 1} {3600 * i} {wait if i % 7 else -1} {1800 + 900 * (i % 5)} {1 + i % 9} -1 -1 {1 + i % 9}"
            f" 7200 -1 1 {i % 3} 1 1 1 -1 -1 -1\n"
            for i in range(72)
        ]
        path = tmp_path / name
        path.write_text("".join(lines))
        return path

    return write


@pytest.fixture
def result(cli, system, recorded, tmp_path):
    out = tmp_path / "result"
    assert cli("run", system(), recorded(), "--policy", "easy", "--out", out, "--quiet").code == 0
    return out


def test_the_page(cli, result):
    everything = ("compare", result, "--recorded", "--by", "partition,size,user,hour_of_week,week")
    ended = cli(*everything)
    assert (ended.code, ended.err) == (0, "")
    assert "compared  61 components" in ended.out
    assert re.search(r"^  recorded +1.5 min +90 s|^  recorded +1.5 min +1.5 min", ended.out, re.M)
    assert "left out  11 without a recorded start" in ended.out
    for told in (
        "within 1 min",
        "Kendall's tau",
        "utilisation",
        "module",
        "nodes",
        "user",
    ):
        assert told in ended.out
    assert ended.out == cli(*everything).out
    assert max(map(len, ended.out.splitlines())) < 130


def test_the_picture(cli, result, tmp_path):
    for name in ("one.png", "two.png"):
        assert cli("compare", result, "--recorded", "--plot", tmp_path / name, "--quiet").code == 0
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "two.png").read_bytes()
    assert (tmp_path / "one.png").read_bytes()[1:4] == b"PNG"


def test_the_section_of_the_report(cli, result, system, trace, tmp_path):
    page = tmp_path / "page.html"
    assert cli("report", result, "--out", page, "--quiet").code == 0
    text = page.read_text(encoding="utf-8")
    assert "How near it is to what was recorded" in text
    assert "Left out: 11 without a recorded start." in text
    assert text.count('src="data:image/png;base64,') == 1
    plain = tmp_path / "plain"
    assert cli("run", system(), trace((0, 5, 1, 9), name="plain.swf"), "--out", plain, "--quiet").code == 0
    assert cli("report", plain, "--out", page, "--quiet").code == 0
    assert "How near it is" not in page.read_text(encoding="utf-8")


def test_causes(cli, result, recorded):
    ended = cli("compare", result, "--recorded", "--causes", recorded())
    assert (ended.code, ended.err) == (0, "")
    table = ended.out.split("What explains the difference")[1]
    assert re.search(r"^  nothing  ", table, re.M)
    for told in (
        "policy: fcfs",
        "policy: slurm",
        "time limits: the run times",
        "last full day: by day",
        "not tried: ",
    ):
        assert told in table
    assert "policy easy has none; slurm has" in " ".join(table.split())
    assert ended.out == cli("compare", result, "--recorded", "--causes", recorded()).out


def test_bad_input(cli, result, recorded, system, trace, tmp_path):
    bare = tmp_path / "bare"
    assert cli("run", system(), trace((0, 5, 1, 9), name="bare.swf"), "--out", bare, "--quiet").code == 0
    other = recorded("other.swf", wait=5)
    cases = {
        ("compare", bare, "--recorded"): "no component of this result has a recorded start",
        ("compare", result): "--recorded",
        ("compare", result, "--recorded", "--by", "sizes"): "did you mean 'size'",
        ("compare", result, "--recorded", "--plot", "near.pdf"): "a name ending in .png",
        ("compare", result, "--recorded", "--columns", "map.yaml"): "--causes TRACE --columns FILE",
        ("compare", result, "--recorded", "--causes", other): "is not the trace of this result",
        ("compare", result, "--recorded", "--causes", tmp_path / "none.swf"): "none.swf",
        ("compare", tmp_path / "nothing", "--recorded"): "nothing",
    }
    for arguments, told in cases.items():
        ended = cli(*arguments)
        assert ended.code == 2, arguments
        assert told in ended.err
        assert "Traceback" not in ended.err


@needs_shared
@pytest.mark.long
@pytest.mark.compiled
def test_the_scheduler_that_made_a_record_is_found(cli, tmp_path):
    """The starts of this dump are those of a packer that starts all that fits."""
    site, out = SHARED / "data" / "sites" / "university", tmp_path / "site"
    assert cli("run", site, "--out", out, "--quiet").code == 0
    ended = cli("compare", out, "--recorded", "--causes", site / "sacct.txt.gz")
    assert "compared  2,000 components" in ended.out
    assert "Closest: policy: first fit." in ended.out
