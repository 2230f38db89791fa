"""Carry out cases: ``python -m tests.fuzz --cases 200000 --seed 1 --workers 2``; one of them: ``--case N``."""

from __future__ import annotations

import argparse
import sys
import time

from tests.fuzz.cases import case
from tests.fuzz.crew import carry_out


def main() -> int:
    """Return 1 if anything was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--case", type=int, help="this one alone, and show it")
    args = parser.parse_args()
    numbers = range(args.first, args.first + args.cases)
    if args.case is not None:
        numbers = range(args.case, args.case + 1)
        shown = case(args.seed, args.case)
        print(shown.kind, shown.arguments)
        for name, content in shown.files.items():
            print(f"--- {name}\n{content.decode('utf-8', 'backslashreplace')[:20000]}")
    began, done, signs = time.monotonic(), 0, {}
    for more, found in carry_out(args.seed, numbers, args.workers):
        done += more
        if found is not None:
            first = found.finding.sign not in signs
            signs[found.finding.sign] = signs.get(found.finding.sign, 0) + 1
            if first:
                repeat = f"python -m tests.fuzz --seed {args.seed} --case {found.number}"
                print(f"\n{found.finding.sign}\n  {repeat}\n{found.finding.text}", flush=True)
        if done % 10_000 < more:
            print(
                f"{done:,} cases, {time.monotonic() - began:.0f} s, {len(signs)} kinds of finding", flush=True
            )
    for sign, count in signs.items():
        print(f"{count:6} {sign}")
    print(f"{done:,} cases in {time.monotonic() - began:.0f} s: {sum(signs.values())} findings")
    return 1 if signs else 0


if __name__ == "__main__":
    sys.exit(main())
