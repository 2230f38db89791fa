"""Replays of message traces as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from scheduler_sim.cli.terminal import table
from scheduler_sim.messages.trace import PS
from scheduler_sim.report.wording import plain

if TYPE_CHECKING:
    from scheduler_sim.arrays import Ints
    from scheduler_sim.messages.outcome import Outcome
    from scheduler_sim.messages.replay import Efficiency

HEAD = ("", "run time", "ideal network", "load balance", "serialization", "transfer", "parallel efficiency")
AS_TRACED = "as traced"


def outcome_text(one: Outcome) -> str:
    """Return the page of one trace: what was replayed, factors and what-ifs, what processes did."""
    rows = [HEAD, _row(AS_TRACED, one.efficiency)]
    rows += [_row(plain(text), found) for text, found in one.what_ifs.items()]
    return "\n\n".join([_title(one), table(rows), _processes(one)])


def notes(one: Outcome) -> Iterator[str]:
    """Yield what the trace holds and is not replayed."""
    name = plain(one.trace.name)
    if one.trace.skipped:
        listed = ", ".join(f"{plain(kind)}: {many}" for kind, many in sorted(one.trace.skipped.items()))
        yield f"{name}: not replayed: {listed}"
    if one.not_received:
        yield f"{name}: {one.not_received} messages are sent and never received"


def _title(one: Outcome) -> str:
    size = one.bytes / 1e6
    return (
        f"{plain(one.trace.name)} on {plain(one.network.name)}: {one.trace.processes} processes,"
        f" {len(one.trace):,} records, {one.messages:,} messages of {size:,.4g} MB together"
    )


def _row(name: str, found: Efficiency) -> tuple[str, ...]:
    shares = (found.load_balance, found.serialization, found.transfer, found.parallel)
    return (name, seconds(found.run_time), seconds(found.ideal), *(f"{float(share):.4f}" for share in shares))


def _processes(one: Outcome) -> str:
    head = ("of a process", "least", "mean", "most", "by process")
    rows = [head]
    for name, values in (
        ("computing", one.real.useful),
        ("waiting for others", one.real.waiting),
        ("transfer", one.real.transfer),
    ):
        rows.append((name, *_spread(values)))
    return table(rows)


def _spread(values: Ints) -> tuple[str, str, str, str]:
    mean = round(sum(values.tolist()) / len(values))
    return seconds(int(values.min())), seconds(mean), seconds(int(values.max())), str(int(values.argmax()))


def seconds(ps: int) -> str:
    """Return a time to five digits, in s, ms or µs."""
    for unit, size in (("s", PS), ("ms", PS // 10**3), ("µs", PS // 10**6)):
        if ps >= size:
            return f"{ps / size:.5g} {unit}"
    return f"{ps / 1000:.5g} ns" if ps else "0 s"
