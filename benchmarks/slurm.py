"""Speed of Slurm's schedulers: ``python -m benchmarks.slurm``. See docs/benchmarks.md.

python -m benchmarks.slurm                               KTH-SP2, and a generated month of a centre
python -m benchmarks.slurm --days 3                      the first days of that month
python -m benchmarks.slurm --page docs/benchmarks.md     the same, into the table of the page
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.measure import Case
from benchmarks.run import in_process, shown

ROOT = Path(__file__).resolve().parent.parent
KTH = ROOT.parent / "shared" / "data" / "traces" / "KTH-SP2-1996-2.1-cln.swf.gz"
KTH_NODES = 100
MONTH = ROOT / "workloads" / "centre-month.yaml"
MONTH_NODES = 5000
SETTINGS = {
    "policy.slurm.PriorityType": "priority/multifactor",
    "policy.slurm.PriorityWeightAge": "1000",
    "policy.slurm.PriorityWeightFairshare": "10000",
    "policy.slurm.PriorityWeightJobSize": "1000",
}
"""All else has Slurm's own defaults."""

PLAIN = {"policy.slurm.accelerate": "false"}
COLUMNS = "trace", "passes", "jobs", "engine s", "jobs/s", "simulate() s", "peak MB", "x bare EASY", "starts"
MARKS = re.compile(r"(<!-- slurm: .*? -->\n).*?(<!-- end -->)", re.DOTALL)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print the table, or write it into a page."""
    args = _parser().parse_args(arguments)
    page = Path(args.page).read_text(encoding="utf-8") if args.page else ""
    if args.page and not MARKS.search(page):
        sys.exit(f"{args.page}: found no place for the table; allowed: <!-- slurm: ... --> and <!-- end -->")
    lines = rows(args.trace, args.nodes, args.days, args.repeats)
    table = "\n".join([_row(COLUMNS), "|---|---|" + "--:|" * 6 + "---|", *lines])
    if args.page:
        filled = MARKS.sub(lambda found: f"{found[1]}\n{table}\n\n{found[2]}", page)
        Path(args.page).write_text(filled, encoding="utf-8")
    else:
        print(table)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.slurm",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--trace", metavar="FILE", default=str(KTH), help="another trace than KTH-SP2")
    parser.add_argument(
        "--nodes", metavar="N", type=int, default=KTH_NODES, help="of its machine, default %(default)s"
    )
    parser.add_argument(
        "--days", metavar="N", type=float, default=0.0, help="of the centre's month, default all 31"
    )
    parser.add_argument("--repeats", metavar="N", type=int, default=3, help="best of N, default %(default)s")
    parser.add_argument("--page", metavar="FILE", help="write the table between its marks in this page")
    return parser


def rows(trace: str, nodes: int, days: float, repeats: int) -> Iterator[str]:
    """Rows of the table; the same starts are demanded of a trace with and without acceleration."""
    cases = []
    if Path(trace).exists():
        cases += [Case("slurm", nodes, 0, trace, repeats, SETTINGS | how) for how in ({}, PLAIN)]
    else:
        print(
            f"{trace} is not there: the benchmark leaves it out; --trace names another one", file=sys.stderr
        )
    cases.append(Case("slurm", MONTH_NODES, 0, str(MONTH), repeats, SETTINGS, days))
    starts: dict[str, str] = {}
    for case in shown(cases):
        found = in_process(case)
        if found["starts"] != starts.setdefault(case.trace, found["starts"]):
            sys.exit(f"{case.trace}: other starts without acceleration")
        yield _row(_cells(case, found))


def _cells(case: Case, found: dict[str, Any]) -> tuple[str, ...]:
    plain = PLAIN.items() <= case.settings.items()
    name = Path(case.trace).name + (f", first {case.days:g} days" if case.days else "")
    return (
        f"{name}, {case.nodes:,} nodes",
        "plain" if plain else "accelerated",
        f"{found['jobs']:,}",
        f"{found['engine_s']:.2f}",
        f"{found['jobs'] / found['engine_s']:,.0f}",
        f"{found['whole_s']:.2f}",
        f"{found['peak_mb']:,.0f}",
        f"{found['engine_cpu_s'] / found['bare_cpu_s']:.0f}",
        "the same" if plain else "",
    )


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
