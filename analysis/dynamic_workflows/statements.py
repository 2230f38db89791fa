"""What D2.3 says about the five scenarios, and beside each statement what was found here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd

from analysis.common.numbers import change, in_percent, mean, number, with_interval
from analysis.dynamic_workflows.cases import EXTENSION_PERCENT
from analysis.dynamic_workflows.conduct import Conducted

SHARES = tuple(EXTENSION_PERCENT)
YES, NO, OPEN = "yes", "no", "open"

NO_DIFFERENCE_PERCENT = 10.0
"""An interval of a change within this is no change worth the name, as in ``metrics.verdicts``."""


class Found(NamedTuple):
    """What was found for one share of workflows, in words, and whether it is what D2.3 says."""

    text: str
    agrees: str


Test = Callable[[Conducted, int], Found]


@dataclass(frozen=True)
class Statement:
    """A statement of D2.3, for which shares it is made, how it is tested, and why ours may differ."""

    says: str
    test: Test
    shares: tuple[int, ...] = SHARES
    why: str = ""


def always(scenario: str, empty: tuple[str, ...]) -> Test:
    """In no seed has any workflow a normalised run time of the kinds named."""

    def test(conducted: Conducted, share: int) -> Found:
        runs = conducted.main(share)
        own = runs[runs["scenario"] == scenario]
        largest = own[list(empty)].to_numpy().max()
        return Found(with_interval(mean(own, "normalized_all")), YES if largest == 0 else NO)

    return test


def changes(measure: str, scenario: str, baseline: str, down: bool) -> Test:
    """A measure goes down, or up, from one scenario to another, paired by seed."""

    def test(conducted: Conducted, share: int) -> Found:
        runs = conducted.main(share)
        row = change(runs, measure, scenario, baseline)
        low, high = row["change_low"], row["change_high"]
        as_said, against = (high < 0, low > 0) if down else (low > 0, high < 0)
        return Found(_from_to(row), YES if as_said else NO if against else OPEN)

    return test


def hardly_changes(measure: str, scenario: str, baseline: str) -> Test:
    """A measure does not go down by a tenth or more."""

    def test(conducted: Conducted, share: int) -> Found:
        runs = conducted.main(share)
        row = change(runs, measure, scenario, baseline)
        low, high = row["change_low"], row["change_high"]
        agrees = YES if low > -NO_DIFFERENCE_PERCENT else NO if high < -NO_DIFFERENCE_PERCENT else OPEN
        return Found(_from_to(row), agrees)

    return test


def stays_below_one(measure: str, scenario: str, baseline: str) -> Test:
    """A measure goes up from one scenario to another, but its mean stays below 1."""

    def test(conducted: Conducted, share: int) -> Found:
        runs = conducted.main(share)
        row = change(runs, measure, scenario, baseline)
        own = mean(runs[runs["scenario"] == scenario], measure)
        return Found(_from_to(row), YES if own.high < 1 else NO if own.low > 1 else OPEN)

    return test


def worse_than_with_fewer(measure: str, scenario: str) -> Test:
    """A measure of a scenario is larger than with the smallest share of workflows."""

    def test(conducted: Conducted, share: int) -> Found:
        both = pd.concat([conducted.main(SHARES[0]), conducted.main(share)])
        row = change(both[both["scenario"] == scenario], measure, str(share), str(SHARES[0]), by="level")
        return Found(_from_to(row), YES if row["change_low"] > 0 else NO if row["change_high"] < 0 else OPEN)

    return test


def amounts_to(measure: str, scenario: str, percent: float) -> Test:
    """A share is so many percent: it lies between the smallest and the largest over seeds."""

    def test(conducted: Conducted, share: int) -> Found:
        runs = conducted.main(share)
        own = runs[runs["scenario"] == scenario]
        least, most = own[measure].min(), own[measure].max()
        text = f"{with_interval(mean(own, measure), ' %')}; single seeds {number(least)} to {number(most)} %"
        return Found(text, YES if least <= percent <= most else NO)

    return test


def _from_to(row: dict[str, Any]) -> str:
    return f"{number(row['mean_baseline'])} → {number(row['mean'])}: {in_percent(row)}"


TINY = (
    "a workflow that works for seconds and waits inside for an hour counts in the hundreds, and such"
    " workflows make the mean; the next row, by sums or the median, weighs less on them"
)
CPU_TIME = (
    "D2.3 does not define its CPU time. Of the node-seconds of *all* jobs it would be {of_all} here; the time"
    " really saved by overlapping is {saved} of the workflows' run times. That their scheduler looks at the"
    " queue at intervals, and at some of its jobs only, is not the reason: see what Slurm's schedulers make"
)

LONGER = (
    "in HET consumers that wait for data are written with longer run times, which makes slowdowns smaller"
)


def as_wholes(scenario: str, baseline: str, *, down: bool, figures: str) -> Iterator[Statement]:
    """Yield what D2.3's figures b show: a workflow is counted once, beside single jobs."""
    for says, measure, why in (
        ("The same, a workflow counted once, as a single job is: wait (h)", "whole_wait_h", ""),
        ("… response (h)", "whole_response_h", ""),
        ("… slowdown, equation 3.8", "whole_slowdown", LONGER),
    ):
        test = changes(measure, scenario, baseline, down=down)
        yield Statement(f"{says} ({figures})", test, why=why)


STATEMENTS = (
    Statement("In DEP the normalised run time is always 1 or larger (16 a)", always("DEP", ("overlapped",))),
    Statement("In HET it is always below 1 (16 a)", always("HET", ("back_to_back", "not_overlapped"))),
    Statement(
        "The API lowers it significantly in DEP (16 a, 17 a): mean over all jobs",
        changes("normalized_all", "DEP+API", "DEP", down=True),
        why=TINY,
    ),
    Statement(
        "The same: Σ run time / Σ components' run time, workflows",
        changes("normalized_total", "DEP+API", "DEP", down=True),
    ),
    Statement(
        "HET with delay and API raises it not too much over HET (16 a): mean over all jobs, below 1",
        stays_below_one("normalized_all", "HET+DELAY+API", "HET"),
        why=f"{TINY}. Where a call comes when the nodes are not free, a gap remains",
    ),
    Statement(
        "The same: median of the workflows", stays_below_one("normalized_median", "HET+DELAY+API", "HET")
    ),
    Statement("HET pays in the wait of all jobs (h)", changes("wait_h", "HET", "DEP", down=False)),
    Statement("… in their response (h)", changes("response_h", "HET", "DEP", down=False)),
    Statement("… in their slowdown", changes("slowdown", "HET", "DEP", down=False)),
    *as_wholes("HET", "DEP", down=False, figures="16 b"),
    Statement(
        "With 33 % HET is even worse than with 24 % (3.4.4): wait of all jobs (h)",
        worse_than_with_fewer("wait_h", "HET"),
        shares=(33,),
    ),
    Statement("… response (h)", worse_than_with_fewer("response_h", "HET"), shares=(33,)),
    Statement("… slowdown", worse_than_with_fewer("slowdown", "HET"), shares=(33,)),
    Statement(
        "DEP+API does not improve the wait of all jobs (3.4.3): no tenth less (h)",
        hardly_changes("wait_h", "DEP+API", "DEP"),
    ),
    Statement(
        "DEP+API: dependent jobs wait less (3.4.2; h)",
        changes("dependent_wait_h", "DEP+API", "DEP", down=True),
    ),
    Statement(
        "… and less inside their workflow, equation 3.7 (h)",
        changes("workflow_internal_wait_h", "DEP+API", "DEP", down=True),
    ),
    Statement(
        "HET+DELAY minimises the waste of HET (3.4.2): node-seconds held before the data are ready (%)",
        changes("idle", "HET+DELAY", "HET", down=True),
    ),
    Statement(
        "Delay and API relieve HET: wait of all jobs (h)",
        changes("wait_h", "HET+DELAY+API", "HET", down=True),
    ),
    Statement("… response (h)", changes("response_h", "HET+DELAY+API", "HET", down=True)),
    Statement(
        "… slowdown",
        changes("slowdown", "HET+DELAY+API", "HET", down=True),
        why=f"{LONGER}: see the next row",
    ),
    Statement(
        "… slowdown, all scenarios by the run times of DEP",
        changes("slowdown_own", "HET+DELAY+API", "HET", down=True),
    ),
    Statement(
        "… response of workflows (16 c, 17 c; h)",
        changes("workflow_response_h", "HET+DELAY+API", "HET", down=True),
    ),
    *as_wholes("HET+DELAY+API", "HET", down=True, figures="16 b, 17 b"),
    Statement(
        "With delays the API lets more of the workflows' CPU time overlap (16 d, 17 d; %)",
        changes("overlapped", "HET+DELAY+API", "HET+DELAY", down=False),
    ),
    Statement(
        "DEP+API: 8 % of the workflows' CPU time overlapped (17 d)",
        amounts_to("overlapped", "DEP+API", 8),
        shares=(33,),
        why=CPU_TIME,
    ),
    Statement(
        "HET+DELAY+API: 27 % (17 d)",
        amounts_to("overlapped", "HET+DELAY+API", 27),
        shares=(33,),
        why=CPU_TIME,
    ),
)

COLUMNS = ("D2.3 says", "24 % in workflows", "33 % in workflows", "agrees", "why not")


def statement_rows(conducted: Conducted) -> list[tuple[str, ...]]:
    """Return the table: ``COLUMNS``, one row a statement."""
    return [_row(statement, conducted) for statement in STATEMENTS]


def _row(statement: Statement, conducted: Conducted) -> tuple[str, ...]:
    found = {share: statement.test(conducted, share) for share in statement.shares}
    texts = [found[share].text if share in found else "–" for share in SHARES]
    verdicts = {share: one.agrees for share, one in found.items()}
    if len(set(verdicts.values())) == 1:
        agrees = next(iter(verdicts.values()))
    else:
        agrees = ", ".join(f"{share} %: {verdict}" for share, verdict in verdicts.items())
    why = "" if set(verdicts.values()) == {YES} else _why(statement, conducted)
    return (statement.says, *texts, agrees, why)


def _why(statement: Statement, conducted: Conducted) -> str:
    if "{" not in statement.why:
        return statement.why
    runs = conducted.main(statement.shares[-1])
    scenario = statement.says.partition(":")[0]
    own = runs[runs["scenario"] == scenario]
    return statement.why.format(
        of_all=with_interval(mean(own, "overlapped_of_all"), " %"),
        saved=with_interval(mean(own, "time_saved"), " %"),
    )
