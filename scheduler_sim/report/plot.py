"""``result.plot``: every picture of a run by its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from scheduler_sim.report.wording import plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from scheduler_sim.result.result import Result


class Plot:
    """The pictures of a result; each method returns a Matplotlib figure, which a notebook shows.

    Matplotlib is loaded when the first is drawn. ``scheduler_sim.report.look.save_png`` writes a
    figure to a file; so does its own ``savefig``.
    """

    def __init__(self, result: Result) -> None:
        self._result = result

    def overview(self) -> Figure:
        """Draw busy nodes per module and the queue, over the whole run."""
        from scheduler_sim.report.figures import overview

        return overview(self._result)

    def gantt(self, colour: str = "wait", span: tuple[int, int] | None = None) -> Figure:
        """Draw which job had which nodes of each module over time.

        Parameters
        ----------
        colour : ``wait``, ``size``, ``user``, ``app`` or ``workflow``.
        span : first and last second to draw, on the trace's own clock; None for the whole run.

        Raises
        ------
        InputError : an unknown colour, an empty span, or a result that needs more nodes than there are.
        """
        from scheduler_sim.report.gantt import gantt

        return gantt(self._result, colour, span)

    def resources(self) -> Figure:
        """Draw cores, memory and GPUs in use, and those that no waiting component could use, over time.

        Raises InputError if jobs share no nodes.
        """
        from scheduler_sim.report.resource_figure import resource_figure

        return resource_figure(self._result)

    def waits(self, others: Mapping[str, Result] | None = None) -> Figure:
        """Draw the distributions of wait and bounded slowdown, of other runs as well.

        Parameters
        ----------
        others : what to call each of the other runs in the legend, and its result.
        """
        from scheduler_sim.report.distributions import waits

        policy = self._result.manifest.get("policy") or {}
        own = plain(policy.get("name") or policy.get("order") or "this run")
        others = dict(others or {})
        return waits({f"{own} (this run)" if own in others else own: self._result, **others})

    def recorded(self) -> Figure:
        """Draw how near the simulation is to the record: waits, nodes in use, hours of the week.

        Raises InputError if the trace records no starts.
        """
        from scheduler_sim.report.agreement_figure import agreement_figure

        return agreement_figure(self._result)

    def heat_map(self, measure: str = "wait_time_mean") -> Figure:
        """Draw a measure by size and run time; raises InputError for one that is not known.

        Parameters
        ----------
        measure : such as ``wait_time_mean``, ``wait_time_p90`` or ``bounded_slowdown_mean``.
        """
        from scheduler_sim.report.heat_map import heat_map

        return heat_map(self._result, measure)

    def diff(self, other: Result, span: tuple[int, int] | None = None) -> Figure:
        """Draw what ``other``, another schedule of the same workload, changes: winners and losers.

        Parameters
        ----------
        other : the schedule after; this one is before.
        span : first and last second of the time axis, on the trace's own clock; None for all.

        Raises
        ------
        InputError : another workload, an empty span, or a result that needs more nodes than there are.
        """
        from scheduler_sim.report.diff_figures import diff_figure
        from scheduler_sim.report.schedule_diff import schedule_diff

        return diff_figure(schedule_diff(self._result, other), span)
