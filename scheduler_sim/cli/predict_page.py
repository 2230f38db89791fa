"""The page of ``predict``: what is known, when each waiting job starts, what another limit changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scheduler_sim.cli.terminal import table
from scheduler_sim.prediction.asked import Asked
from scheduler_sim.prediction.draws import LATER
from scheduler_sim.prediction.history import History
from scheduler_sim.prediction.predict import Prediction
from scheduler_sim.report.prediction_figure import moment
from scheduler_sim.report.wording import count, duration, paragraph, plain, printable, span_text

SHARES = ("10 %", "50 %", "90 %")


def predict_text(
    found: Prediction,
    of_asked: Sequence[Prediction],
    asked: Sequence[Asked],
    left_out: Mapping[str, int],
    history: History,
    policy: str,
) -> str:
    """Return the page."""
    state = found.state
    title = f"{plain(state.jobs.source.name)} under {plain(policy)}, from {_at(found, state.at)} on"
    parts = [title, "\n".join(_known(found, left_out, history))]
    if state.waits.any():
        parts.append(f"{_waiting(found)}\n  by this time the job has started in the given share of the draws")
    if asked:
        parts.append(f"  A job submitted now{asked[0].rest}:\n\n{_asked(of_asked, asked)}")
        parts.extend(_advice(of_asked, asked))
    return "\n\n".join(parts)


def _known(found: Prediction, left_out: Mapping[str, int], history: History) -> Iterator[str]:
    """Say what the prediction stands on."""
    state, waiting = found.state, int(found.state.waits.sum())
    yield f"  runs      {count(len(state.start) - waiting, 'job')}"
    reasons = ", ".join(f"{number:,} {printable(reason)}" for reason, number in left_out.items())
    others = f"; left out, because they wait for something else: {reasons}" if reasons else ""
    yield f"  waits     {count(waiting, 'job')}{others}"
    first, last = (_at(found, int(time)) for time in (history.submit[0], history.submit[-1]))
    gone = ", ".join(f"{jobs:,} {printable(name)}" for name, jobs in history.left_out.items())
    others = f"; left out, because there is no such partition now: {gone}" if gone else ""
    jobs = count(len(history.submit), "job")
    yield f"  history   {jobs} that had ended, submitted {first} to {last}{others}"
    yield f"  draws     {len(found.starts):,}, each up to {_at(found, found.horizon)}"


def _waiting(found: Prediction) -> str:
    """Return the table of waiting jobs, in the order of submission."""
    rows: list[Sequence[str]] = [
        ("job", "user", "partition", "nodes", "limit", *SHARES, "if all run to their limits")
    ]
    for row in found.table().to_dict("records"):
        names = (plain(row[name]) or "-" for name in ("job", "user", "partition"))
        rows.append((*names, f"{row['nodes']:,}", duration(row["time_limit"]), *_times(found, row)))
    return table(rows, left=3)


def _asked(of_asked: Sequence[Prediction], asked: Sequence[Asked]) -> str:
    """Return the table of sizes and limits of a job that is not submitted yet."""
    rows: list[Sequence[str]] = [("nodes", "limit", *SHARES, "if all run to their limits")]
    for found, one in zip(of_asked, asked, strict=True):
        row = found.table().to_dict("records")[-1]
        rows.append((f"{one.nodes:,}", duration(row["time_limit"]), *_times(found, row)))
    return table(rows, left=0)


def _times(found: Prediction, row: Mapping[Any, Any]) -> Iterator[str]:
    """Write the starts of a row; beyond the horizon as after it, of what can never start as such."""
    for name in ("start_10", "start_50", "start_90", "by_limits"):
        if row["by_limits"] == LATER:
            yield "never"
        elif row[name] == LATER:
            yield f"after {_at(found, found.horizon)}"
        else:
            yield _at(found, row[name])


def _advice(of_asked: Sequence[Prediction], asked: Sequence[Asked]) -> Iterator[str]:
    """Say which size or limit starts sooner than the first, if one does."""
    medians = [int(found.table()["start_50"].iloc[-1]) for found in of_asked]
    if medians[0] == LATER or not len(medians) > 1:
        return
    best = min(range(len(medians)), key=lambda place: (medians[place], place))
    gained = medians[0] - medians[best]
    if gained < max(60, (medians[0] - of_asked[0].state.at) // 20):
        yield "  None of the others starts much sooner than the first."
        return
    found, one = of_asked[best], asked[best]
    named = [
        f"{count(each.nodes, 'node')} and {duration(int(its.state.limit[-1]))}"
        for each, its in ((one, found), (asked[0], of_asked[0]))
    ]
    text = (
        f"Ask for {named[0]}, and half the draws start by {_at(found, medians[best])}: {span_text(gained)}"
        f" sooner than with {named[1]}."
    )
    yield "\n".join(paragraph(text, 2))


def _at(found: Prediction, time: int) -> str:
    return moment(time, found.state.at, found.state.origin)
