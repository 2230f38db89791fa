"""How fast message traces are read and replayed: a stencil, repeated until it has ten million records."""

from __future__ import annotations

import resource
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time
from typing import TypeVar

from benchmarks.section import Asked, table
from scheduler_sim.messages.collectives import USUAL
from scheduler_sim.messages.matching import match
from scheduler_sim.messages.network import Network
from scheduler_sim.messages.network_keys import ModuleKeys, NodeLinkKeys
from scheduler_sim.messages.patterns import ring, stencil
from scheduler_sim.messages.reading import read_messages, write_messages
from scheduler_sim.messages.replay import replay

RECORDS, PROCESSES = 10_000_000, 4096
QUICK_RECORDS, QUICK_PROCESSES = 20_000, 64

LIMITS: dict[str, dict[str, int]] = {
    "without limits": {},
    "a link out and in": {"links_out": 1, "links_in": 1},
    "and 256 buses": {"links_out": 1, "links_in": 1, "buses": 256},
}
"""Networks, by what they limit."""

Made = TypeVar("Made")


def section(asked: Asked) -> str:
    """Return the table: reading, matching, and the replay on each network."""
    records = QUICK_RECORDS if asked.quick else RECORDS
    processes = QUICK_PROCESSES if asked.quick else PROCESSES
    replay(ring(2), network({}))  # compiles
    return table(("<trace", "records", "<what", "cpu s", "million records/s"), _rows(records, processes))


def network(limits: dict[str, int]) -> Network:
    """Return nodes with a process each, 2 µs and 10 GB/s apart."""
    links = NodeLinkKeys.model_validate({"latency_us": 2, "bandwidth_mb_s": 10_000, **limits})
    return Network(
        "benchmark", {"M": ModuleKeys(nodes=PROCESSES, between_nodes=links)}, {}, "fill", None, USUAL
    )


def _rows(records: int, processes: int) -> Iterator[tuple[str, ...]]:
    one = stencil(processes, 1)
    with tempfile.TemporaryDirectory() as folder:
        for suffix in (".dim", ".csv"):
            path = repeated(write_messages(one, Path(folder) / f"one{suffix}"), records)
            trace, took = timed(lambda path=path: read_messages(path))
            yield _row(f"{suffix}, {path.stat().st_size / 1e6:,.0f} MB", len(trace), "reading", took)
            path.unlink()
    matching, took = timed(lambda: match(trace))
    where = f"stencil, {processes:,} processes"
    yield _row(where, len(trace), "finding what belongs together", took)
    for words, limits in LIMITS.items():
        _, took = timed(lambda limits=limits: replay(trace, network(limits), matching=matching))
        yield _row(where, len(trace), f"replay, {words}", took)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    yield (where, f"{len(trace):,}", "most memory of all, GB", f"{peak:.1f}", "")


def repeated(path: Path, records: int) -> Path:
    """Repeat the records of a file until there are so many; the lines before them stay once."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    first = next(i for i, line in enumerate(lines) if line[0].isdigit())
    body = "".join(lines[first:])
    times = max(1, records // (len(lines) - first))
    whole = path.with_name(f"whole{path.suffix}")
    with whole.open("w", encoding="utf-8") as file:
        file.writelines(lines[:first])
        for _ in range(times):
            file.write(body)
    return whole


def timed(work: Callable[[], Made]) -> tuple[Made, float]:
    """Return what comes of work, and its seconds of the processor."""
    begin = process_time()
    made = work()
    return made, process_time() - begin


def _row(where: str, records: int, what: str, took: float) -> tuple[str, ...]:
    return where, f"{records:,}", what, f"{took:.1f}", f"{records / took / 1e6:.2f}"


if __name__ == "__main__":
    print(section(Asked()))
