"""A replayed message trace as a timeline: what each process did when."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from scheduler_sim.report.look import COLOURS, GREY, blank, look
from scheduler_sim.report.wording import plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from scheduler_sim.arrays import Floats, Ints

STATES = {"computing": COLOURS[0], "waiting for others": "#D9D9D9", "transfer": COLOURS[1]}
"""What a process does, and its colour; white once it has ended."""

COLUMNS = 1600
"""Instants across: what is shorter than one is mixed into it."""

MOST_ROWS = 512
PS = 10**12
UNITS = (("s", 1.0), ("ms", 1e3), ("µs", 1e6), ("ns", 1e9))


def timeline_figure(
    title: str, process: Ints, state: Ints, begin: Ints, end: Ints, processes: int, run_time: int
) -> Figure:
    """Draw a row a process (of many, a row several), coloured by the share of time in each state.

    Parameters
    ----------
    process, state, begin, end : int64[n], intervals: whose, which of ``STATES``, from when to when (ps);
        those of a
        process one after the other
    processes : how many; run_time : of the whole, ps
    """
    rows = min(processes, MOST_ROWS)
    shares = np.zeros((len(STATES), rows, COLUMNS))
    run_time = max(run_time, 1)
    edges = np.linspace(0, run_time, COLUMNS + 1)
    first = np.searchsorted(process, np.arange(processes + 1))
    for one in range(processes):
        mine = slice(first[one], first[one + 1])
        for number in range(len(STATES)):
            shares[number, one * rows // processes] += _spent(
                state[mine] == number, begin[mine], end[mine], edges
            )
    shares /= np.bincount(np.arange(processes) * rows // processes)[:, None] * (edges[1] - edges[0])
    colours = np.array([to_rgb(colour) for colour in STATES.values()])
    image = np.einsum("srt,sc->rtc", shares, colours) + (1 - shares.sum(axis=0))[:, :, None]
    unit, scale = next(((u, s) for u, s in UNITS if run_time * s / PS >= 2), UNITS[-1])
    with look():
        figure = blank(9.5, 1.9 + min(0.16 * rows, 5.5))
        panel = figure.subplots()
        panel.imshow(
            np.clip(image, 0, 1),
            aspect="auto",
            interpolation="nearest",
            extent=(0, run_time * scale / PS, processes - 0.5, -0.5),
        )
        panel.grid(visible=False)
        panel.yaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        panel.set_ylabel("process")
        panel.set_xlabel(f"time ({unit})")
        keys = [Patch(facecolor=colour, label=name) for name, colour in STATES.items()]
        keys.append(Patch(facecolor="white", edgecolor=GREY, linewidth=0.6, label="ended"))
        figure.legend(handles=keys, loc="outside lower center", ncols=len(keys), fontsize=8.5)
        figure.suptitle(plain(title), x=0.01, ha="left", fontsize=12, fontweight="bold")
    return figure


def _spent(there: np.ndarray, begin: Ints, end: Ints, edges: Floats) -> Floats:
    """Return the time in intervals between one edge and the next, ps."""
    begin, end = begin[there & (end > begin)], end[there & (end > begin)]
    if not len(begin):
        return np.zeros(len(edges) - 1)
    spent = np.concatenate([[0], np.cumsum(end - begin)]).astype(np.float64)
    times = np.stack([begin, end], axis=1).ravel()
    so_far = np.repeat(spent, 2)[1:-1]
    return np.diff(np.interp(edges, times, so_far))
