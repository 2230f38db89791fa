"""A slice of the fuzzer in the tests, and that it is what it says."""

from __future__ import annotations

import os
import random
import sys
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.conftest import examples
from tests.fuzz import confine, judge
from tests.fuzz.cases import Case, case, loaded_case
from tests.fuzz.confine import OutsideError
from tests.fuzz.crew import carry_out
from tests.fuzz.judge import Finding, FoundError, judged
from tests.fuzz.loaded import LOADED


@pytest.mark.long
def test_two_thousand_cases_without_a_finding():
    done = 0
    for more, found in carry_out(seed=1, numbers=range(2000), workers=1):
        assert found is None, f"python -m tests.fuzz --seed 1 --case {found.number}\n{found.finding.text}"
        done += more
    assert done == 2000


@pytest.mark.parametrize("name", LOADED)
def test_every_loader_reads_or_says_why_not(name, tmp_path):
    draw = random.Random(name)
    for number in range(12):
        (tmp_path / str(number)).mkdir()
        found = judged(loaded_case(name, draw), tmp_path / str(number))
        assert found is None, f"{name}, {number}\n{found.text}"


def test_a_case_is_the_same_by_its_number():
    first = [case(7, number) for number in range(300)]
    assert [case(7, number) for number in reversed(range(300))] == first[::-1]
    assert [case(8, number) for number in range(300)] != first


@pytest.fixture
def judge_of(monkeypatch):
    """Have a kind of case do what a function does."""

    def put(function):
        monkeypatch.setitem(judge.KINDS, "try", function)
        return Case("try", {})

    return put


def _for_ever():
    while True:
        pass


@pytest.mark.parametrize(
    ("does", "sign"),
    [
        (lambda _: {}["x"], "KeyError"),
        (lambda _: Path(".left.tmp").touch(), "leftover"),
        (lambda _: judge._require_place("a mistake", ("t.swf",)), "FoundError an error that names no file"),
        (lambda _: judge._called("inspect", "t.swf", "--x"), None),
        (lambda _: _for_ever(), "hang"),
    ],
)
def test_what_is_a_finding(tmp_path, monkeypatch, judge_of, does, sign):
    monkeypatch.setattr(judge, "CPU_S", 0.3)
    found = judged(judge_of(does), tmp_path)
    assert (found is None) == (sign is None)
    assert found is None or found.sign.startswith(sign)


def test_internal_errors_and_exit_codes_are_findings(monkeypatch):
    monkeypatch.setattr(judge, "main", lambda _: 3)
    with pytest.raises(FoundError, match="exit code 3"):
        judge._called("run")

    def broken(_):
        print("scheduler-sim: internal error, please report it", file=sys.stderr)
        return 1

    monkeypatch.setattr(judge, "main", broken)
    with pytest.raises(FoundError, match="internal error"):
        judge._called("run")


@pytest.mark.parametrize("path", ["../x", "/tmp/fuzz-elsewhere", "a/../../x"])
def test_nothing_is_written_elsewhere(tmp_path, path):
    here = tmp_path / "here"
    here.mkdir()
    before = os.getcwd()
    os.chdir(here)
    confine.confine_to(here)
    try:
        confine._hook("open", ("inside", "w", os.O_WRONLY))
        confine._hook("open", (path, "r", os.O_RDONLY))
        for event, arguments in (
            ("open", (path, "w", 0)),
            ("os.rename", ("inside", path, -1, -1)),
            ("os.remove", (path, -1)),
        ):
            with pytest.raises(OutsideError):
                confine._hook(event, arguments)
    finally:
        confine.confine_to(None)
        os.chdir(before)


@examples(300)
@given(st.binary(max_size=40))
@example(b"/etc/passwd")
@example(b"a: ../../x")
@example(b"..../~root\\/x")
def test_no_name_of_a_case_leads_out(data):
    text = confine.scrubbed(data).decode("utf-8", "surrogateescape").replace("\0", "")
    for word in text.split():
        assert Path(os.path.abspath(Path("/here") / word)).is_relative_to("/here")


@examples(150)
@given(st.sampled_from(["swf", "mwf", "csv", "sacct"]), st.binary(max_size=300))
@example("swf", b"\xef\xbb\xbf")
@example("swf", b"-\n" * 18)
@example("mwf", b";" * 41 + b"\n")
@example("mwf", (";".join(["0"] * 42) + "\r\r\n").encode())
def test_any_bytes_are_a_trace_or_an_error(tmp_path_factory, kind, data):
    name = f"t.{kind}"
    found = judged(Case("trace", {name: data}, (name,), (name,)), tmp_path_factory.mktemp("fuzz"))
    assert found is None, found


@pytest.mark.long
def test_a_worker_that_is_lost_is_told_and_replaced():
    found = [(more, one) for more, one in islice(carry_out(1, range(6), 1, _dies_at_three), 10)]
    assert sum(more for more, _ in found) == 6
    (lost,) = [one for _, one in found if one is not None]
    assert lost == (3, Finding("worker lost", "exit code 9"))


def _dies_at_three(seed, pipe):
    while True:
        for number in pipe.recv():
            if number == 3:
                os._exit(9)
            pipe.send((number, None))
