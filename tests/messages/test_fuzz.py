"""Traces with odd values anywhere: replayed, or refused in words."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim.errors import InputError
from scheduler_sim.messages.outcome import outcome
from scheduler_sim.messages.reading import read_messages
from tests.conftest import ROOT, examples
from tests.messages.network import checked, network

SAMPLES = [path.read_text() for path in sorted((ROOT / "workloads" / "messages").iterdir())]
WORDS = ("", "-1", "0", "1", "7", "nan", "inf", "1e300", "1_0", "0x1", " 3 ", "é", "barrier", "wait")
ODD = st.sampled_from([*WORDS, "9" * 20, str(2**63 - 1), str(2**62), "\r", '"', ":", ","])


@st.composite
def odd_traces(draw: st.DrawFn) -> str:
    lines = draw(st.sampled_from(SAMPLES)).splitlines()
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(lines) - 1))
        mark = ":" if ":" in lines[at] else ","
        fields = lines[at].split(mark)
        change = draw(st.sampled_from(["field", "field", "twice", "gone", "moved"]))
        if change == "field":
            fields[draw(st.integers(0, len(fields) - 1))] = draw(ODD)
            lines[at] = mark.join(fields)
        elif change == "twice":
            lines.insert(at, lines[at])
        elif len(lines) > 2:
            line = lines.pop(at)
            if change == "moved":
                lines.insert(draw(st.integers(0, len(lines))), line)
    return "\n".join(lines) + "\n"


@examples(300)
@given(odd_traces())
def test_odd_traces_are_replayed_or_refused(text):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t"
        path.write_text(text)
        with suppress(InputError):
            checked(outcome(read_messages(path), network(latency_us=1), ["balanced", "no-noise"]).real)
