"""Cores, memory and GPUs in use over time, and those that were free and of use to nobody."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from scheduler_sim.errors import InputError
from scheduler_sim.report.envelope import Envelope, envelope
from scheduler_sim.report.figures import (
    COLUMNS,
    caption,
    draw,
    headline,
    held,
    run_span,
    tones,
    trend,
)
from scheduler_sim.report.look import COLOURS, blank, look
from scheduler_sim.report.module_use import UNITS, WORDS, Resource, resources, stranded_in_words
from scheduler_sim.report.module_view import module_sizes, unix_start
from scheduler_sim.report.time_axis import time_axis
from scheduler_sim.report.wording import plain
from scheduler_sim.result.columns import TOTAL
from scheduler_sim.result.steps import integral

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from scheduler_sim.result.result import Result

MOST_MODULES = 4
"""Drawn one by one; of more, all together."""


def resource_figure(result: Result) -> Figure:
    """Draw what jobs had of cores, memory and GPUs of each module whose nodes they share.

    Raises InputError if jobs share no nodes.
    """
    found = resources(result)
    if not found:
        raise InputError("jobs share no nodes of this run; allowed: a system with a module that is shared")
    single = [one for one in found if one.module != TOTAL]
    many = len({one.module for one in single}) > MOST_MODULES
    shown = [one for one in found if one.module == TOTAL] if many else single
    first, last = run_span(result)
    with look():
        figure = blank(11, 1.8 + 1.75 * len(shown))
        panels = figure.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
        alone = len(single) == len({one.kind for one in single})
        pictures = [
            _panel(panel, one, (first, last), alone=alone) for panel, one in zip(panels, shown, strict=True)
        ]
        time_axis(panels[-1], first, last, unix_start=unix_start(result.manifest))
        exact = all(picture.exact for picture in pictures)
        figure.legend(
            handles=[*_keys(), *([] if exact else tones(last - first))],
            loc="outside lower center",
            ncols=6,
            title="\n".join([caption(exact, last - first), stranded_in_words(shown)]),
            title_fontsize=8.5,
            fontsize=8.5,
        )
        nodes = sum(module_sizes(result.manifest).values())
        figure.suptitle(headline(result, nodes), x=0.01, ha="left", fontsize=12, fontweight="bold")
    return figure


def _panel(panel: Axes, resource: Resource, span: tuple[int, int], *, alone: bool) -> Envelope:
    """Draw what is used of a resource from below, and what is stranded from above."""
    scale, word = UNITS[resource.kind]
    picture = envelope(resource.used, *span, COLUMNS)
    colour = COLOURS[list(UNITS).index(resource.kind)]
    draw(panel, picture, colour)
    trend(panel, picture, resource.used, span)
    panel.axhline(resource.there, color="black", linestyle=(0, (5, 2)), linewidth=1)
    if resource.stranded is not None and len(resource.stranded[0]):
        lost = envelope(resource.stranded, *span, COLUMNS)
        panel.fill_between(
            lost.edges, resource.there - held(lost.mean), resource.there, step="post",
            facecolor="white", edgecolor="black", hatch="xxx", linewidth=0,
        )  # fmt: skip
    panel.set_title(_title(resource, span, alone=alone))
    panel.set_ylabel(f"{word} of {resource.there / scale:,.0f}")
    panel.set_ylim(0, resource.there * 1.06)
    steps = MaxNLocator(nbins=4, steps=[1, 2, 2.5, 5, 10])
    panel.set_yticks([tick * scale for tick in steps.tick_values(0, resource.there / scale)])
    panel.set_ylim(0, resource.there * 1.06)
    panel.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y / scale:,g}"))
    return picture


def _title(resource: Resource, span: tuple[int, int], *, alone: bool) -> str:
    """Say what a panel shows, and what of it was used and stranded, over the time that is drawn."""
    where = "all modules" if resource.module == TOTAL else plain(resource.module)
    whole = resource.there * (span[1] - span[0])
    parts = [f"{100 * integral(resource.used) / whole:.1f} % used"]
    if resource.stranded is not None:
        parts.append(f"{100 * integral(resource.stranded) / whole:.1f} % stranded")
    words = WORDS[resource.kind]
    return f"{words[0].upper()}{words[1:]}{'' if alone else f' of {where}'}: {', '.join(parts)}"


def _keys() -> list[Any]:
    return [
        Line2D([], [], color="black", linestyle=(0, (5, 2)), linewidth=1, label="all there is"),
        Patch(facecolor="white", edgecolor="black", hatch="xxx", label="stranded"),
    ]
