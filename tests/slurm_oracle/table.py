"""One row per recorded case: `python -m tests.slurm_oracle.table [case ...]`."""

from __future__ import annotations

import sys

from tests.slurm_oracle.cases import Case, case_names, load_case
from tests.slurm_oracle.figures import Play, between_runs, meets, nearest
from tests.slurm_oracle.plain import BOTH_ORDERS

HEAD = (
    f"{'nearest run':21} {'jobs':>4}  states   order    {'median':>6} {'p90':>5} {'worst':>5}"
    f" | {'two runs of Slurm':20} | mean waits ours/theirs"
)


def row(case: Case, *plays: Play) -> str:
    """The figures of one case against the recorded run it comes nearest to; seconds."""
    run, found = nearest(case, *plays)
    noise = between_runs(case)
    apart = f"{noise.median:6.1f} {noise.p90:6.1f} {noise.worst:6.1f}" if noise else ""
    waits = " ".join(f"{part} {ours:.1f}/{theirs:.1f}" for part, (ours, theirs) in found.waits.items())
    return (
        f"{run.name:21} {found.jobs:4}  {'same  ' if found.states_equal else 'DIFFER'}"
        f" {found.inversions:3}/{found.pairs:<5} {found.median:6.1f} {found.p90:5.1f} {found.worst:5.1f}"
        f" | {apart:20} | {waits}{'' if meets(case, found) else '  MISSES'}"
    )


def main(names: list[str], *plays: Play) -> None:
    print(HEAD)
    for name in names or case_names():
        case = load_case(name)
        if not case.heterogeneous:
            print(row(case, *plays), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:], *BOTH_ORDERS)
