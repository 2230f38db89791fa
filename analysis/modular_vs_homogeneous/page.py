"""The page: text around the figures and tables, every number from the runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.common.markdown import table
from analysis.common.numbers import mean, number, with_interval
from analysis.common.page import text_of, write_page
from analysis.modular_vs_homogeneous import identity
from analysis.modular_vs_homogeneous.cases import (
    BOTH,
    CM,
    DAM,
    ESB,
    LISTED,
    LOADS,
    MAIN_POLICY,
    MOD,
    PART_LOADS,
    PART_MAIN,
    PART_WORKLOADS,
    PREFERRED,
    READINGS,
    SLOWER,
    SPEED,
    SYSTEMS,
    WORKLOADS,
)
from analysis.modular_vs_homogeneous.claims import (
    CLAIMS,
    ORDERS,
    Claim,
    Order,
    completion,
    find,
    order_verdict,
    ratio,
    ratio_text,
    strategies,
    verdict,
)
from analysis.modular_vs_homogeneous.conduct import MEASURES, Conducted
from analysis.modular_vs_homogeneous.figures import loads_figure, mixes_figure, systems_figure
from analysis.modular_vs_homogeneous.findings import findings
from analysis.modular_vs_homogeneous.mixes import Mixes

PAGE, RESULTS = "modular_vs_homogeneous.md", "modular_vs_homogeneous/results"
_text = partial(text_of, Path(__file__).parent / "texts")
SHOWN = ("wait_h", "wait_p90_h", "response_h", "completion_h", "run_h")
CHOICE = "earliest_end"
"""The strategy that stands for those by which the scheduler chooses."""

FIGURES = ("systems", "loads", "mixes")


def write(conducted: Conducted, mixes: Mixes | None, folder: Path) -> Path:
    """Write page and figures; return the page. Without mixes it says nothing of them."""
    figures = {"systems": systems_figure(conducted.part(PART_MAIN), MAIN_POLICY)}
    if conducted.setup.seeds_beyond:
        figures["loads"] = loads_figure(conducted.part(PART_LOADS))
    if mixes is not None:
        figures["mixes"] = mixes_figure(mixes.panels(), "mean wait (h)")
    return write_page(folder / PAGE, page_text(conducted, mixes), folder / RESULTS, figures)


def page_text(conducted: Conducted, mixes: Mixes | None) -> str:
    """Return the page in Markdown."""
    said = _said(conducted)
    parts = [_text("head").format(**said), *(f"- {one}\n" for one in findings(conducted, mixes))]
    parts += [_text("what").format(**said), _systems(conducted)]
    parts += [_text("claims").format(**said), *_claims(conducted)]
    parts += [_text("orders").format(**said), *_orders(conducted)]
    parts += [_text("identity").format(**said)]
    if conducted.setup.seeds_beyond:
        parts += [_text("beyond").format(**said), _closest(conducted)]
        parts += [_text("workloads").format(**said), _workloads(conducted)]
    if mixes is not None:
        parts += [_text("mixes").format(**said, **mixes.said()), mixes.table_text()]
    parts.append(_text("end").format(**said))
    return "".join(parts)


def _said(conducted: Conducted) -> dict[str, object]:
    """Say what was run, and what follows from the published ratios."""
    main, beyond = conducted.setup.simulations()
    shares = identity.by_shares()
    implied = identity.implied(shares[DAM])
    seeds = {reading: identity.of_seeds(conducted.part(PART_MAIN, reading=reading)) for reading in READINGS}
    setup = conducted.setup
    return {
        "version": conducted.version,
        "jobs": setup.jobs,
        "seeds": setup.seeds,
        "seeds_beyond": setup.seeds_beyond,
        "main": f"{main:,}",
        "beyond": f"{beyond:,}",
        "results": RESULTS,
        "loads": f"{LOADS[0]} to {LOADS[-1]}",
        "dam_run": number(shares[DAM]),
        "slower_run": number(shares[SLOWER]),
        "speed_run": number(shares[SPEED]),
        "wait_share": f"{100 * implied.wait_share.value:.0f}",
        "implied": f"{implied.esb.value:.2f} ({implied.esb.low:.2f} to {implied.esb.high:.2f})",
        **{f"{name}_seeds": f"{one.least:.2f} to {one.most:.2f}" for name, one in seeds.items()},
        **{f"{name}_within": f"{one.within} of {one.seeds}" for name, one in seeds.items()},
    }


def _systems(conducted: Conducted) -> str:
    """Write the means of every system under every policy, in both readings where they differ."""
    header = ("policy", "system", *(MEASURES[name] for name in SHOWN))
    rows = []
    for policy in conducted.setup.policies:
        runs = conducted.part(PART_MAIN, policy)
        for key, own in runs.groupby(["system", "reading", "strategy"], sort=False):
            name, reading, strategy = map(str, key)
            if policy != MAIN_POLICY and strategy not in (PREFERRED, CHOICE, LISTED):
                continue
            rows.append(
                (
                    policy,
                    _name(name, reading, strategy),
                    *(with_interval(mean(own, measure)) for measure in SHOWN),
                )
            )
    return table(header, rows)


def _name(system: str, reading: str, strategy: str) -> str:
    words = [strategy.replace("_", " ")] if system == MOD else []
    words += [reading] if reading != BOTH else []
    return f"{system} ({', '.join(words)})" if words else system


def _claims(conducted: Conducted) -> Iterator[str]:
    """Write D2.3's claims, beside each what was found: policies as columns."""
    policies = conducted.setup.policies
    for reading in READINGS:
        yield f"### Ratios below 1 read as “{reading}”\n\n"
        rows = _rows(conducted, reading, CLAIMS)
        for strategy in (PREFERRED, CHOICE):
            cells = [_completion(conducted, policy, reading, strategy) for policy in policies]
            what = "completion time of modular comparable to DAM's, the best"
            rows.append((f"{what}; {strategy.replace('_', ' ')}", *cells))
        yield table(("D2.3 says", *policies), rows)


def _orders(conducted: Conducted) -> Iterator[str]:
    """Write what D2.3 says without a figure, beside it the ratio that was found: policies as columns."""
    for reading in READINGS:
        yield f"Ratios below 1 read as “{reading}”:\n\n"
        yield table(("D2.3 says", *conducted.setup.policies), _rows(conducted, reading, ORDERS))


def _rows(conducted: Conducted, reading: str, said: Sequence[Claim | Order]) -> list[tuple[str, ...]]:
    """Return a row for each, for the modular system with each strategy: what it says, a cell a policy."""
    policies = conducted.setup.policies
    return [
        (_says(one, strategy), *(_cell(conducted, policy, reading, one, strategy) for policy in policies))
        for one in said
        for strategy in _strategies(one)
    ]


def _says(claim: Claim | Order, strategy: str) -> str:
    return claim.says if claim.less != MOD else f"{claim.says}; {strategy.replace('_', ' ')}"


def _strategies(claim: Claim | Order) -> tuple[str, ...]:
    return (PREFERRED, CHOICE) if claim.less == MOD else (PREFERRED,)


def _strategy(policy: str, wanted: str) -> str:
    """Slurm has one way of its own with lists."""
    return wanted if wanted in strategies(policy) else strategies(policy)[-1]


def _cell(conducted: Conducted, policy: str, reading: str, said: Claim | Order, strategy: str) -> str:
    runs, own = conducted.part(PART_MAIN, policy, reading), _strategy(policy, strategy)
    if isinstance(said, Order):
        found = ratio(runs, said, own)
        return f"{ratio_text(found)}: {order_verdict(found)}"
    claimed = find(runs, said, own)
    return f"{claimed.text()}: {verdict(claimed)}"


def _completion(conducted: Conducted, policy: str, reading: str, strategy: str) -> str:
    runs = conducted.part(PART_MAIN, policy, reading)
    found = completion(runs, _strategy(policy, strategy))
    own = runs[(runs["system"] != MOD) | (runs["strategy"] == _strategy(policy, strategy))]
    best = str(own.groupby("system")["completion_h"].mean().idxmin())
    near = found.ratio.low >= 0.9 and found.ratio.high <= 1.1
    agrees = "reproduced" if near and best == DAM else "not reproduced"
    return f"{found.text()}, best {best}: {agrees}"


def distance(ratios: list[float]) -> float:
    """Say how far five ratios are from D2.3's: the largest factor, up or down."""
    with np.errstate(divide="ignore"):
        off = np.abs(np.log(np.array(ratios)) - np.log([claim.times for claim in CLAIMS]))
    return float(np.exp(off.max()))


def combinations(conducted: Conducted) -> pd.DataFrame:
    """Return the five ratios of every policy, workload, reading and strategy, the nearest to D2.3's first."""
    rows = []
    levels = [(PART_MAIN, policy, "") for policy in conducted.setup.policies]
    if conducted.setup.seeds_beyond:
        levels += [(PART_LOADS, MAIN_POLICY, f"{load}") for load in LOADS]
        levels += [(PART_WORKLOADS, MAIN_POLICY, name) for name in WORKLOADS]
    for part, policy, level in levels:
        for reading in READINGS:
            runs = conducted.part(part, policy, reading)
            runs = runs[runs["level"] == level]
            for strategy in strategies(policy):
                found = [find(runs, claim, strategy) for claim in CLAIMS]
                ratios = [one.ratio.value for one in found]
                if not all(ratio > 0 for ratio in ratios):
                    continue
                rows.append(
                    {
                        "part": part,
                        "level": level,
                        "policy": policy,
                        "reading": reading,
                        "strategy": strategy,
                        "found": found,
                        "distance": distance(ratios),
                        "reproduced": sum(one.reproduced for one in found),
                        "ordered": sum(one.ratio.value > 1 for one in found),
                    }
                )
    return pd.DataFrame(rows).sort_values("distance", kind="stable")


def _closest(conducted: Conducted) -> str:
    """Write the combinations that are nearest to D2.3's five ratios."""
    header = (
        "policy", "workload", "reading", "strategy", *(claim.says for claim in CLAIMS), "farthest"
        " off by a factor of"
    )  # fmt: skip
    rows = [
        (
            one.policy,
            {PART_MAIN: "as in the recipe", PART_LOADS: f"load {one.level}"}.get(one.part, str(one.level)),
            one.reading,
            one.strategy.replace("_", " "),
            *(number(found.ratio.value) for found in one.found),
            number(one.distance),
        )
        for one in combinations(conducted).head(6).itertuples()
    ]
    return table(header, rows)


def _workloads(conducted: Conducted) -> str:
    """Write mean waits under the three ways in which jobs may have been held to 32 nodes."""
    rows = []
    for name in WORKLOADS:
        runs = conducted.part(PART_WORKLOADS)
        runs = runs[runs["level"] == name]
        for reading in READINGS:
            part = runs[runs["reading"].isin((reading, BOTH))]
            homogeneous = [
                with_interval(mean(part[part["system"] == one], "wait_h")) for one in (CM, DAM, ESB)
            ]
            modular = [
                with_interval(mean(part[(part["system"] == MOD) & (part["strategy"] == one)], "wait_h"))
                for one in (PREFERRED, CHOICE)
            ]
            rows.append((name, reading, *homogeneous, *modular))
    header = (
        "jobs held to 32 nodes by",
        "reading",
        *SYSTEMS[:3],
        "modular, preferred",
        "modular, earliest end",
    )
    return table(header, rows)
