"""Views of a result: what reports make of it, though a result knows nothing of reports.

The package itself, which stands above both, hangs them in before any of its modules is loaded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scheduler_sim.report.plot import Plot
    from scheduler_sim.result.result import Result


class Views:
    """How each view is made of a result.

    Attributes
    ----------
    plot : its pictures by name.
    card : how a notebook shows it, in HTML.
    """

    plot: Callable[[Result], Plot]
    card: Callable[[Result], str]


VIEWS = Views()
