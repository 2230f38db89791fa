"""How much longer a job takes whose nodes lie apart: a law of a type of application."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from scheduler_sim.config.keys import Keys
from scheduler_sim.config.value import Percent, choice

LEAVES, GROUPS, HOPS = "leaves", "groups", "hops"
MEASURES = (LEAVES, GROUPS, HOPS)


class SpreadKeys(Keys):
    """How much longer jobs of a type take when their nodes are far apart."""

    by: Annotated[str, choice(*MEASURES)] = Field(
        default=HOPS,
        description="what is counted for the nodes of a job, as in the result columns of these names."
        " leaves: leaf switches beyond the first; groups: switches of the next level"
        " beyond the first; hops: links",
    )
    percent: Percent = Field(
        description="increase of the run time for each one counted, percent of the run time on one leaf"
    )
