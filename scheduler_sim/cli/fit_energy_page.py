"""How well energy models project, as text."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from scheduler_sim.cli.terminal import table
from scheduler_sim.energy.fitting.regression import Law
from scheduler_sim.energy.fitting.validation import SELECTED, Validation
from scheduler_sim.report.wording import count, plain


def validation_text(
    validation: Validation, reference_khz: int, counters: Sequence[str], chosen: Sequence[Law], name: str
) -> str:
    """Return the page: mean errors of each law from the reference, and from all frequencies."""
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
        [f"{title}\n{how}", table(_rows(validation, reference_khz), left=2), f"{used}\n{selected}"]
    )


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
