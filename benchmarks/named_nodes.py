"""No speed: by how much it matters that nodes are named: ``python -m benchmarks.named_nodes TRACE ...``.

Jobs that ask for whole nodes are run on nodes that are counted and on shared ones that are told apart. Under
fcfs, first_fit and easy the starts are the same. Under conservative a reservation names its nodes, so that
what is planned behind it may differ; of each trace a row says how often, and what it does to waits.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks.section import named, table
from scheduler_sim import Policy, Result, System, read_trace, simulate
from scheduler_sim.arrays import Ints

SAME = "none", "first_fit", "easy"
PLANS = "scratch", "keep"
COLUMNS = "<trace", "<replan", "jobs", "other starts", "earlier", "later", "mean wait, counted", "named"
COLUMNS += "bounded slowdown, counted", "named"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.named_nodes",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("trace", nargs="+", help="FILE:NODES, a trace and the nodes of its machine")
    print(table(COLUMNS, rows(parser.parse_args(arguments).trace)))


def rows(traces: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """A row for each trace and way of planning anew."""
    for argument in traces:
        file, _, nodes = argument.rpartition(":")
        for policy in SAME:
            counted, told_apart = both(Path(file), int(nodes), Policy(backfill=policy))
            if moves(counted, told_apart).any():
                sys.exit(f"{file}: other starts under {policy}")
        for plan in PLANS:
            policy = Policy.named("conservative").with_settings({"policy.replan": plan})
            counted, told_apart = both(Path(file), int(nodes), policy)
            moved = moves(counted, told_apart)
            yield (
                named(file),
                plan,
                f"{len(moved):,}",
                f"{np.mean(moved != 0):.2%}",
                f"{np.mean(moved < 0):.2%}",
                f"{np.mean(moved > 0):.2%}",
                *(f"{one.metrics['wait_time']['mean']:,.0f} s" for one in (counted, told_apart)),
                *(f"{one.metrics['bounded_slowdown']['mean']:.2f}" for one in (counted, told_apart)),
            )


def moves(counted: Result, told_apart: Result) -> Ints:
    """int64[n]: how much later jobs start on nodes that are told apart, s."""
    return (told_apart.components["start_time"] - counted.components["start_time"]).to_numpy()


def both(file: Path, nodes: int, policy: Policy) -> tuple[Result, Result]:
    """The results on nodes that are counted, and on nodes that are told apart."""
    module = {"name": "cluster", "nodes": nodes, "cores_per_node": 1}
    counted, told_apart = (
        simulate(System.from_dict({"modules": [module | {"shared": shared}]}), read_trace(str(file)), policy)
        for shared in (False, True)
    )
    return counted, told_apart


if __name__ == "__main__":
    main()
