"""A fit as a page of plain text."""

from __future__ import annotations

from scheduler_sim.scaling.curves import Curve
from scheduler_sim.scaling.fitting import Fit, SegmentedFit
from scheduler_sim.scaling.fitting.fit import label_of
from scheduler_sim.scaling.fitting.goodness import WORST_FIRST
from scheduler_sim.scaling.learn import Learnt
from scheduler_sim.scaling.parameters import CLOCK, PROCESSES

AHEAD = (2, 8)
"""Multiples of the largest P fitted at which a page predicts."""

OTHERS = 3
"""Candidates listed beside the one chosen."""


def learnt_text(learnt: Learnt) -> str:
    """Return how good the fits are, curves, predictions, intervals, envelopes, and how they held."""
    profile, counted = learnt.profile, learnt.points.counted
    parts = [_judged(learnt)]
    of = f"{learnt.points.metric}, no run time, " if learnt.points.metric else ""
    parts.append(f"{profile.app}: {of}{profile.scaling} scaling, {_ranges(learnt)}")
    parts += _breaks(learnt)
    parts.append(_fits(learnt))
    parts.append(_candidates(learnt))
    if learnt.validation is not None:
        p = learnt.validation.fitted
        head = (
            f"Fitted up to {p.max():g} {counted}, held against the rest: predicted (error, + is optimistic)"
        )
        parts.append(f"{head}\n{learnt.validation.text()}")
    if learnt.broken:
        lines = [
            f"  {check.processes:g} {counted}: {check.whole} {check.stated:.4f},"
            f" {' x '.join(check.parts)} = {check.product:.4f}"
            for check in learnt.broken
        ]
        parts.append("Rows that are not the product of their parts, to their rounding:\n" + "\n".join(lines))
    return "\n\n".join(parts)


def _ranges(learnt: Learnt) -> str:
    provenance = learnt.profile.provenance
    said = [f"{least:g} to {most:g} {name}" for name, (least, most) in provenance.others.items()]
    if provenance.fitted:
        least, most = provenance.fitted
        said.insert(0, f"{least:g} to {most:g} {learnt.points.counted}")
    return ", ".join(said)


def _judged(learnt: Learnt) -> str:
    """Say of each fit how good it is, the worst first."""
    labels = learnt.labels()
    ranked = sorted(learnt.judged.items(), key=lambda item: WORST_FIRST.index(item[1].word))
    return "\n".join(f"{labels[name]} {how.text(learnt.points.counted)}" for name, how in ranked)


def _breaks(learnt: Learnt) -> list[str]:
    """Say where one law ends and another begins."""
    labels = learnt.labels()
    lines = [
        f"{labels[name]} has a break between P={fit.between[0]:g} and P={fit.between[1]:g}: two laws,"
        " the second beyond the points"
        for name, fit in learnt.fits.items()
        if isinstance(fit, SegmentedFit)
    ]
    return ["\n".join(lines)] if lines else []


def _fits(learnt: Learnt) -> str:
    heads, places = _places(learnt)
    labels = learnt.labels()
    rows = [heads]
    for name, fit in learnt.fits.items():
        seconds = fit.quantity == "time" and not learnt.points.metric
        label = f"{labels[name]}, s" if seconds else labels[name]
        said = _no_model() if learnt.judged[name].no_model else _predictions(fit, places)
        rows.append([label, curve_text(fit.formula), *said])
    widths = [max(len(row[i]) for row in rows) for i in range(len(heads))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    share = f"{100 * next(iter(learnt.fits.values())).level:.0f} %"
    foot = f"In brackets: where {share} of measurements lie if the curve is right. The envelope covers\n"
    foot += "every reading of P, and the forms that may be right by their odds, whose median is the value."
    return "\n".join([*lines, foot])


def _places(learnt: Learnt) -> tuple[list[str], list[list[float]]]:
    """Return the heads of the table, and where it predicts: at multiples of the largest of P and of size."""
    efficiencies = all(fit.quantity == "efficiency" for fit in learnt.fits.values())
    points = learnt.points
    curve = f"curve, p = {points.counted}" if PROCESSES in points.parameters else "curve"
    heads = ["factor" if efficiencies else "", curve]
    ranges = {PROCESSES: learnt.profile.provenance.fitted, **learnt.profile.provenance.others}
    places = [
        [max(ranges[name]) * (1 if name == CLOCK else multiple) for name in points.parameters]
        for multiple in AHEAD
    ]
    said = [", ".join(f"{value:g}" for value in place) for place in places]
    return [*heads, *(f"at {words}" for words in said), f"envelope, {said[-1]}"], places


def _no_model() -> list[str]:
    return ["no model", *[""] * len(AHEAD)]


def _predictions(fit: Fit, places: list[list[float]]) -> list[str]:
    cells = []
    for place in places:
        (low,), (high,) = fit.interval([place])
        value = f"{fit.predicted([place])[0]:.4g}"
        cells.append(value if low == high else f"{value} ({low:.4g} to {high:.4g})")
    (low,), (high,) = fit.envelope([places[-1]])
    return [*cells, "as measured" if low == high else f"{low:.4g} to {high:.4g}"]


def _candidates(learnt: Learnt) -> str:
    lines = ["Curves tried, best first, with the error of predicting each point from the others (SMAPE):"]
    labels = learnt.labels()
    for name, fit in learnt.fits.items():
        ranked = [c for c in fit.candidates if c.left_out_error == c.left_out_error][: OTHERS + 1]
        if ranked:
            shown = "; ".join(f"{c.label} {c.left_out_error:.3g} %" for c in ranked)
            lines.append(f"  {labels[name]}: {shown}")
    return "\n".join(lines) if len(lines) > 1 else "Too few points to compare curves."


def curve_text(curve: Curve) -> str:
    """Return kind and parameters on one line: ``amdahl, linear: a0 1, f 0.9999``."""
    if curve.NAME in ("pmnf", "segments", "table"):
        return label_of(curve)
    numbers = {
        name: value for name in type(curve).model_fields if isinstance(value := getattr(curve, name), float)
    }
    return f"{label_of(curve)}: " + ", ".join(f"{name} {value:.6g}" for name, value in numbers.items())
