"""A run or a study as one HTML file that opens offline: see ``docs/how-to/report.md``.

What needs no script stands in the page as text; the jobs stand in it once, packed, and the page's own
scripts make charts, table and stories of them. Nothing that came from a trace is ever read as HTML.
"""

from scheduler_sim.report.html.write import write_report

__all__ = ["write_report"]
