"""What components ask of the resources that all modules share: licences, network attached memory."""

from __future__ import annotations

import numpy as np

from scheduler_sim.arrays import Ints
from scheduler_sim.placement.parse_once import parse_once
from scheduler_sim.placement.repeating import as_slice, first_of, repeated
from scheduler_sim.system.licence import parse_licences
from scheduler_sim.system.system import System
from scheduler_sim.workload.table import Workload

NEVER_ENOUGH = np.int64(1) << np.int64(60)
"""Demand of a licence the system does not have, while it has others: it can never be met."""


def demands(workload: Workload, system: System, rows: Ints) -> tuple[Ints, dict[str, int], Ints | None]:
    """Return the demand of each shared resource, what is asked in vain, and alternatives.

    Returns
    -------
    demand : int64[n, resources]; with alternatives, one row for each of them
    not_limited : ``licences`` or ``nam`` -> components that ask, where the system declares none at all
    alternatives : int64[n + 1], where those of each component begin in ``demand``; None unless some
        component takes one licence or another
    """
    resources = system.resources
    demand = np.zeros((len(rows), len(resources)), dtype=np.int64)
    not_limited: dict[str, int] = {}
    nam = np.maximum(workload.columns["nam_kb"][as_slice(rows)], 0)
    for i, resource in enumerate(resources):
        if resource.kind == "nam":
            demand[:, i] = nam
    if nam.any() and not any(resource.kind == "nam" for resource in resources):
        not_limited["nam"] = int(np.count_nonzero(nam))

    requests, codes = parse_once(workload, rows, "licences", parse_licences)
    asking = np.array([any(one) for one in requests], dtype=bool)[codes]
    if not asking.any():
        return demand, not_limited, None
    columns = {resource.name: i for i, resource in enumerate(resources) if resource.kind == "licence"}
    if not columns:
        not_limited["licences"] = int(np.count_nonzero(asking))
        return demand, not_limited, None
    count = np.array([len(one) for one in requests], dtype=np.int64)
    table = np.zeros((int(count.sum()), len(resources)), dtype=np.int64)
    for row, wanted in enumerate(licences for one in requests for licences in one):
        for name, number in wanted.items():
            table[row, columns.get(name, 0)] += number if name in columns else NEVER_ENOUGH
    start = np.cumsum(count) - count
    if (count[codes] == 1).all():
        return demand + table[start[codes]], not_limited, None
    times = count[codes]
    owner, place = repeated(times)
    return demand[owner] + table[start[codes][owner] + place], not_limited, first_of(times)
