"""The page: text around the figure and tables, every number from the runs."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from analysis.common.markdown import table
from analysis.common.numbers import difference, in_units, mean, with_interval
from analysis.common.page import text_of, write_page
from analysis.site_rules.cases import (
    ACCOUNTS,
    ANY,
    BASE,
    BY_LEAF,
    DAYS,
    DIVISIONS,
    HOUR,
    LATE_H,
    LEAF,
    LEAVES,
    LOAD,
    MAINTENANCE,
    NODES,
    PACE,
    PLACEMENT,
    PREEMPTION,
    QUOTA,
    RULES,
    SHORT_H,
    URGENT_PERCENT,
    USERS,
    VARIANTS,
    WINDOW,
    WINDOW_H,
    of_rule,
)
from analysis.site_rules.conduct import Conducted
from analysis.site_rules.figures import waits_figure
from analysis.site_rules.findings import findings
from analysis.site_rules.measures import ALL, GROUPS, MEASURES

PAGE, RESULTS = "site_rules.md", "site_rules/results"
_text = partial(text_of, Path(__file__).parent / "texts")
COMPARED = ("wait_h", "bounded_slowdown")
THROWN = ("lost_h", "lost_jobs", "unfinished", "drain_h")
OVER = {
    QUOTA: "A quota: nodes that each user may have at once in QOS normal",
    PREEMPTION: "Urgent jobs",
    MAINTENANCE: f"{WINDOW_H} hours of maintenance of all nodes",
    PLACEMENT: "Which nodes a job gets",
}


def write(conducted: Conducted, folder: Path) -> Path:
    """Write page and figure; return the page."""
    figures = {"waits": waits_figure(conducted.runs)}
    return write_page(folder / PAGE, page_text(conducted), folder / RESULTS, figures)


def page_text(conducted: Conducted) -> str:
    """Return the page in Markdown."""
    jobs = mean(conducted.where(variant=BASE, group=ALL), "jobs").value
    said = {
        "version": conducted.version,
        "seeds": conducted.setup.seeds,
        "simulations": f"{conducted.setup.simulations():,}",
        "results": RESULTS,
        "nodes": f"{NODES:,}",
        "load": LOAD,
        "days": DAYS,
        "counted": f"{jobs:,.0f}",
        "users": USERS,
        "divisions": DIVISIONS,
        "accounts": ACCOUNTS,
        "urgent": URGENT_PERCENT,
        "short": SHORT_H,
        "window": WINDOW_H,
        "begins": WINDOW // HOUR,
        "late": LATE_H,
        "leaf": LEAF,
        "above": LEAVES,
        "day": f"{24 * NODES:,}",
        "pace": ", ".join(f"`{name}` {value}" for name, value in PACE.items()),
    }
    parts = [_text("head").format(**said), *(f"- {one}\n" for one in findings(conducted))]
    parts.append(_text("what").format(**said))
    parts += [_waits(conducted, rule) for rule in RULES]
    parts += [_text("thrown").format(**said), _thrown(conducted), _text("spread").format(**said)]
    parts += [_spread(conducted), _text("end").format(**said)]
    return "".join(parts)


def _waits(conducted: Conducted, rule: str) -> str:
    """Write by how much each group waits longer, and is slowed down more, under a rule's variants."""
    text, names = "", of_rule(rule)
    for measure in COMPARED:
        rows = []
        for group in GROUPS:
            runs = conducted.of(group)
            own = mean(runs[runs["variant"] == BASE], measure)
            cells = (in_units(difference(runs, measure, name, BASE, by="variant")) for name in names)
            rows.append((group, with_interval(own), *cells))
        text += f"{OVER[rule]}: {MEASURES[measure]}, and by how much it is more.\n\n"
        text += table(("jobs", "without", *names), rows)
    return text


def _spread(conducted: Conducted) -> str:
    """Write over how many leaves the jobs of each group are spread."""
    rows = []
    for group in GROUPS:
        own = (with_interval(mean(conducted.where(group=group, variant=n), "leaves")) for n in (ANY, BY_LEAF))
        less = in_units(difference(conducted.of(group), "leaves", BY_LEAF, ANY, by="variant"))
        rows.append((group, *own, less))
    return table(("jobs", ANY, BY_LEAF, "difference"), rows)


def _thrown(conducted: Conducted) -> str:
    """Write what each variant throws away and leaves idle, in all."""
    rows = []
    for one in VARIANTS:
        own = conducted.where(variant=one.name, group=ALL)
        cells = (with_interval(mean(own, measure)) for measure in THROWN)
        rows.append(("" if one.name == BASE else one.rule, one.name, *cells))
    return table(("rule", "", *(MEASURES[measure] for measure in THROWN)), rows)
