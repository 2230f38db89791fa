"""Play cases of rules together: ``python -m tests.fuzz.rules --cases 50000 --workers 2``; one: ``--case N``."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path

from tests.fuzz.crew import carry_out
from tests.fuzz.rules.judge import Outcome, case, judged, work_compiled, work_plain
from tests.fuzz.rules.minimise import as_test, minimised
from tests.fuzz.rules.plays import Case
from tests.fuzz.rules.refusals import names_no_way_out, sentence


def main() -> int:
    """Return 1 if anything was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.rules", description=__doc__)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument(
        "--case", type=int, help="this one alone, shown; if anything is found it is made small"
    )
    parser.add_argument("--file", type=Path, help="likewise, a case from a file")
    parser.add_argument("--compiled", action="store_true", help="compiled, too; each new shape takes seconds")
    args = parser.parse_args()
    if args.case is not None or args.file is not None:
        one = json.loads(args.file.read_text()) if args.file else case(args.seed, args.case)
        return _show(one, is_compiled=args.compiled)
    numbers = range(args.first, args.first + args.cases)
    work = work_compiled if args.compiled else work_plain
    began, done, signs = time.monotonic(), 0, Counter[str]()
    refused, refusals, blind = 0, Counter[str](), Counter[str]()
    for more, found in carry_out(args.seed, numbers, args.workers, work):
        done += more
        outcome = found.finding if found is not None else Outcome()
        if outcome.sign:
            signs[outcome.sign] += 1
            if signs[outcome.sign] <= 3:
                repeat = f"python -m tests.fuzz.rules --seed {args.seed} --case {found.number}"
                print(f"\n{outcome.sign}\n  {repeat}\n{outcome.text}", flush=True)
        refused += getattr(outcome, "is_refused", False)
        for said in getattr(outcome, "refused", []):
            refusals[sentence(said)] += 1
            blind[sentence(said)] += names_no_way_out(said)
        if done % 500 < more:
            passed = f"{done:,} cases, {time.monotonic() - began:.0f} s, {refused:,} refused"
            print(f"{passed}, {len(signs)} kinds of finding", flush=True)
    for said, count in refusals.most_common():
        print(f"{count:6} {'NO WAY OUT ' if blind[said] else ''}{said}")
    for sign, count in signs.most_common():
        print(f"{count:6} {sign}")
    print(
        f"{done:,} cases in {time.monotonic() - began:.0f} s: {refused:,} refused, by {len(refusals)} sentences,"
        f" {sum(blind.values())} times without a way out; {sum(signs.values())} findings"
    )
    return 1 if signs else 0


def _show(case: Case, *, is_compiled: bool) -> int:
    outcome = judged(case, is_compiled=is_compiled)
    print(as_test("case", case), outcome.sign or "nothing found", outcome.text, *outcome.refused, sep="\n")
    if not outcome.sign:
        return 0
    small = minimised(case, lambda one: judged(one, is_compiled=is_compiled).sign)
    print(
        as_test(outcome.sign.replace(" ", "-"), small), judged(small, is_compiled=is_compiled).text, sep="\n"
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
