"""What the energy of a schedule amounts to behind the facility, in money and in CO2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from scheduler_sim.energy.accounting import TOTAL, Account
from scheduler_sim.energy.facility import Facility
from scheduler_sim.energy.tariff import JOULES_PER_KWH, Series

DIRECT = Facility()
"""The facility that takes what its nodes take."""


class Bill(NamedTuple):
    """What the energy of a facility amounts to.

    Attributes
    ----------
    it_j : energy of the nodes, J; facility_j : with conversion and cooling, J.
    conversion_j, cooling_j : what stands between nodes and grid, J.
    max_facility_w : the most that the facility takes, W.
    cost : in the currency of the price; None without a price.
    carbon_g : g of CO2; None without a carbon intensity.
    """

    it_j: float
    facility_j: float
    conversion_j: float
    cooling_j: float
    max_facility_w: float
    cost: float | None
    carbon_g: float | None


def bill(
    accounted: Account,
    nodes: Mapping[str, int],
    *,
    module: str = TOTAL,
    facility: Facility = DIRECT,
    price: Series | None = None,
    carbon: Series | None = None,
) -> Bill:
    """Return energy, cost and CO2 of a facility, or of one module with its part of it.

    ``nodes`` has the nodes of each module, ``price`` is per kWh, ``carbon`` g of CO2 per kWh. Raises
    InputError for a series that does not cover the schedule.
    """
    pue = facility.constant_pue
    if pue is not None and price is None and carbon is None:  # nothing hangs on when
        row = accounted.energy[accounted.energy["module"] == module].iloc[0]
        it, most = float(row["system_j"]), float(row["peak_w"])
        return Bill(it, pue * it, 0.0, (pue - 1) * it, pue * most, None, None)
    use = facility.use(accounted, nodes, list(nodes) if module == TOTAL else [module])
    priced = (
        None if series is None else use.at_prices(series) / JOULES_PER_KWH for series in (price, carbon)
    )
    most = float(use.watts.max(initial=0.0))
    return Bill(use.it_j, use.facility_j, use.conversion_j, use.cooling_j, most, *priced)
