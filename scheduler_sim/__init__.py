"""scheduler-sim: replay or generate job traces on modular supercomputers.

Times are integer seconds on the trace's own clock, sizes whole nodes, powers W,
energies J. The names below load on first use, so that ``import scheduler_sim``
and ``scheduler-sim --help`` stay instant.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from scheduler_sim.result.views import VIEWS
from scheduler_sim.version import __version__

if TYPE_CHECKING:
    from scheduler_sim.generation.generate import generate
    from scheduler_sim.generation.recipe import Recipe
    from scheduler_sim.loaders.read import read_trace
    from scheduler_sim.policy.policy import Policy
    from scheduler_sim.report.plot import Plot
    from scheduler_sim.result.result import Result
    from scheduler_sim.schedulers.compiled import compiled
    from scheduler_sim.schedulers.view import NEVER
    from scheduler_sim.simulation import Simulation, simulate
    from scheduler_sim.study.study import Study
    from scheduler_sim.system.system import System
    from scheduler_sim.workload.table import Workload
    from scheduler_sim.workload.trace_io import write_trace

_HOMES = {
    "NEVER": "scheduler_sim.schedulers.view",
    "Policy": "scheduler_sim.policy.policy",
    "Recipe": "scheduler_sim.generation.recipe",
    "Result": "scheduler_sim.result.result",
    "Simulation": "scheduler_sim.simulation",
    "Study": "scheduler_sim.study.study",
    "System": "scheduler_sim.system.system",
    "Workload": "scheduler_sim.workload.table",
    "compiled": "scheduler_sim.schedulers.compiled",
    "generate": "scheduler_sim.generation.generate",
    "read_trace": "scheduler_sim.loaders.read",
    "simulate": "scheduler_sim.simulation",
    "write_trace": "scheduler_sim.workload.trace_io",
}

__all__ = [
    "NEVER",
    "Policy",
    "Recipe",
    "Result",
    "Simulation",
    "Study",
    "System",
    "Workload",
    "__version__",
    "compiled",
    "generate",
    "read_trace",
    "simulate",
    "write_trace",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


def _plot(result: Result) -> Plot:
    from scheduler_sim.report.plot import Plot

    return Plot(result)


def _card(result: Result) -> str:
    from scheduler_sim.report.card import card

    return card(result)


VIEWS.plot, VIEWS.card = _plot, _card
