"""The load that is offered to each module, and what there is to say of one beyond what it can carry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from scheduler_sim.metrics.statistics import ratio
from scheduler_sim.result.columns import NEVER, TOTAL, rows_named


def offered_load(components: pd.DataFrame, modules: Mapping[str, int]) -> dict[str, float | None]:
    """Return node-seconds of those that ran over nodes × span of their submissions, by module and ``total``.

    The span, s, is that of all modules together; None where all is submitted at one instant.
    """
    ran = components["start_time"].to_numpy() != NEVER
    if not ran.any():
        return dict.fromkeys((*modules, TOTAL))
    submit, start, end, nodes = (
        components[name].to_numpy()[ran] for name in ("submit_time", "start_time", "end_time", "nodes")
    )
    span = int(submit.max() - submit.min())
    work = nodes * (end - start)
    asked = {name: int(work[rows_named(components["module"], name)[ran]].sum()) for name in modules}
    return {
        **{name: ratio(asked[name], modules[name] * span) for name in modules},
        TOTAL: ratio(int(np.sum(work)), sum(modules.values()) * span),
    }


def overloads(load: Mapping[str, float | None]) -> Iterator[str]:
    """Yield a warning for each module that is offered more than it can carry."""
    for name, value in load.items():
        if name != TOTAL and value is not None and value > 1:
            yield (
                f"the offered load on module {name} is {value:.2f}: more work than its nodes could do while"
                " it was submitted, so waits grow with the length of the trace"
            )
