"""``scheduler-sim convert``."""

from __future__ import annotations

import pytest

from scheduler_sim import read_trace
from tests.cli.command import MODULAR, SAMPLE


@pytest.mark.parametrize("source", [SAMPLE, MODULAR])
@pytest.mark.parametrize("suffix", ["swf", "mwf", "csv", "parquet", "swf.gz", "mwf.gz", "csv.zst"])
def test_what_the_simulator_reads_survives(cli, tmp_path, source, suffix):
    target = tmp_path / f"converted.{suffix}"
    ended = cli("convert", source, target)
    assert ended.code == 0, ended.err
    assert ended.out.startswith(f"{target}: ")
    before, after = read_trace(source), read_trace(target)
    for column in ("component_id", "submit_time", "run_time", "time_limit", "nodes"):
        assert (before[column] == after[column]).all()
    assert [path.name for path in tmp_path.iterdir()] == [target.name]


@pytest.mark.parametrize("source", [SAMPLE, MODULAR])
def test_back_and_forth_gives_the_same_bytes(cli, tmp_path, source):
    there, back = tmp_path / "t.parquet", tmp_path / source.name
    assert cli("convert", source, there).code == 0
    assert cli("convert", there, back).code == 0
    same = tmp_path / f"same{source.suffix}"
    assert cli("convert", source, same).code == 0
    assert same.read_bytes() == source.read_bytes()


def test_losses_are_noted_on_stderr(cli, tmp_path):
    ended = cli("convert", MODULAR, tmp_path / "t.swf")
    assert "note: dependency_ids: SWF has no place for it" in ended.err
    assert "note:" not in ended.out


def test_quiet(cli, tmp_path):
    ended = cli("convert", MODULAR, tmp_path / "t.swf", "--quiet")
    assert (ended.code, ended.out, ended.err) == (0, "", "")


def test_formats_by_name(cli, tmp_path):
    source = tmp_path / "trace.txt"
    source.write_bytes(SAMPLE.read_bytes())
    target = tmp_path / "other.txt"
    assert cli("convert", source, target, "--from", "swf", "--to", "MWF").code == 0
    lines = target.read_text().splitlines()
    assert sum(line.count(";") for line in lines if not line.startswith("#")) == 41 * 1000
