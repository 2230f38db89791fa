"""How well energy models project, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan, nan

from scheduler_sim.cli.terminal import table
from scheduler_sim.energy.fitting.one_clock import MEAN, OneClock
from scheduler_sim.energy.fitting.regression import CONSTANT, PROPORTIONAL, Law
from scheduler_sim.energy.fitting.validation import SELECTED, Validation
from scheduler_sim.report.wording import count, plain
from scheduler_sim.scaling.fitting.goodness import NO_MODEL, words

SIMPLEST = {
    "power": CONSTANT.name,
    "time": PROPORTIONAL.name,
    "energy": f"{CONSTANT.name}, {PROPORTIONAL.name}",
}
"""By quantity, the law that has to be beaten."""


def validation_text(
    validation: Validation, reference_khz: int, counters: Sequence[str], chosen: Sequence[Law], name: str
) -> str:
    """Return the page: how good the laws selected are, and the errors of each, from the reference and all."""
    rows = validation.projections
    splits, unseen = rows["split"].nunique(), validation.errors["workloads"].max()
    title = (
        f"{plain(name)}: {count(int(rows['workload'].nunique()), 'workload')} projected without being fitted"
    )
    how = f"  {count(int(splits), 'split')}, {unseen} unseen at a time; from {reference_khz} kHz to others"
    used = f"  counters  {', '.join(map(plain, counters)) if counters else 'none'}"
    power, time = chosen
    selected = f"  selected  power: {_law(power)}; time: {_law(time)}"
    return "\n\n".join(
        [
            "\n".join(_judged(validation, reference_khz)),
            f"{title}\n{how}",
            table(_rows(validation, reference_khz), left=2),
            f"{used}\n{selected}",
        ]
    )


def one_clock_text(made: OneClock, name: str) -> str:
    """Return the page of points at one clock: how well each law tells workloads that were left out."""
    errors, taken = made.errors, made.selected
    error, mean = (float(errors["mape"][law]) for law in (taken, MEAN))
    rows: list[tuple[str, ...]] = [("law", "RMSE %", "MAPE %", "bias %")]
    for law, row in errors.iterrows():
        shown = (f"{row[key]:.2f}" for key in ("rmse_percent", "mape", "bias"))
        rows.append((f"{'> ' if law == taken else '  '}{plain(str(law))}", *shown))
    terms = zip(made.laws[taken], made.coefficients, strict=True)
    formula = " + ".join(f"{x:.4g}" if term == "1" else f"{x:.4g} {plain(term)}" for term, x in terms)
    judged = made.workloads[made.judged]
    workloads = count(len(set(judged)), "workload")
    return "\n\n".join(
        [
            f"power {words(error, mean)}: workloads that were left out are {error:.2g} % off on average"
            f" (MAPE); {MEAN}: {mean:.2g} %",
            f"{plain(name)}: {workloads}, {count(len(judged), 'row')} at {made.khz} kHz, each workload"
            " left out in turn",
            table(rows, left=1),
            f"  selected  P = {formula} W",
        ]
    )


def no_models(validation: Validation, reference_khz: int) -> list[str]:
    """Return the quantities that the laws selected do not describe."""
    return [quantity for quantity, word, *_ in _judgements(validation, reference_khz) if word == NO_MODEL]


def _judged(validation: Validation, reference_khz: int) -> Iterator[str]:
    """Say of each quantity how well the law selected projects it, beside the simplest law."""
    for quantity, word, error, simplest, baseline in _judgements(validation, reference_khz):
        said = f"{quantity} {word}{', no model' if word == NO_MODEL else ''}: workloads that were not fitted"
        said += f" are {error:.2g} % off on average (MAPE)"
        yield said if isnan(baseline) else f"{said}; {simplest}: {baseline:.2g} %"


def _judgements(validation: Validation, reference_khz: int) -> Iterator[tuple[str, str, float, str, float]]:
    """Yield quantity, word, error of the law selected, the simplest law and its error; MAPE from there."""
    mape = validation.summary(reference_khz).set_index(["quantity", "law"])["mape"]
    for quantity, simplest in SIMPLEST.items():
        if (quantity, SELECTED) in mape:
            error = float(mape[quantity, SELECTED])
            baseline = float(mape.get((quantity, simplest), nan))
            yield quantity, words(error), error, simplest, baseline


def _rows(validation: Validation, reference_khz: int) -> list[tuple[str, ...]]:
    keys = ["quantity", "law"]
    near = validation.summary(reference_khz)
    every = validation.summary().merge(near, on=keys, how="left", suffixes=("_all", ""))
    rows: list[tuple[str, ...]] = [("", "law", "RMSE %", "MAPE %", "bias %", "RMSE %, from all")]
    before = ""
    for _, row in every.iterrows():
        quantity, law = str(row["quantity"]), str(row["law"])
        cells = [row[key] for key in ("rmse_percent", "mape", "bias", "rmse_percent_all")]
        shown = ("" if isnan(cell) else f"{cell:.2f}" for cell in cells)
        mark = f"> {law}" if law == SELECTED else f"  {law}"
        rows.append((quantity if quantity != before else "", mark, *shown))
        before = quantity
    return rows


def _law(law: Law) -> str:
    return f"{law.name} ({', '.join(law.terms)})" if law.terms else law.name
