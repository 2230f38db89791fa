"""``scheduler-sim explain``."""

from __future__ import annotations

import pytest

from tests.cli.command import CLUSTER, SAMPLE


@pytest.fixture
def result(cli, tmp_path):
    out = tmp_path / "result"
    assert cli("run", CLUSTER, SAMPLE, "--policy", "easy", "--out", out, "--quiet").code == 0
    return out


def test_a_wait(cli, result):
    ended = cli("explain", result, 301)
    assert (ended.code, ended.err) == (0, "")
    for told in ("Component 301", "It waited 4:19:16", "sat behind the reservation of", "shadow time"):
        assert told in " ".join(ended.out.split())


def test_unknown_components(cli, result):
    for component, told in (("5000", "no component 5000"), ("x", "not a number"), ("-3", "-3")):
        ended = cli("explain", result, component)
        assert ended.code == 2
        assert told in ended.err
        assert ended.out == ""


def test_damaged_results(cli, result):
    (result / "timeline.parquet").write_bytes(b"PAR1")
    ended = cli("explain", result, 1)
    assert ended.code == 2
    assert "timeline.parquet" in ended.err
    (result / "timeline.parquet").unlink()
    ended = cli("explain", result, 1)
    assert ended.code == 2
    assert "timeline.parquet is missing" in ended.err
