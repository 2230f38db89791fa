"""The reference page says what there is."""

from __future__ import annotations

import re

import pytest

from tests.conftest import ROOT

gymnasium = pytest.importorskip("gymnasium", reason="needs Gymnasium: pip install 'scheduler-sim[gym]'")

from scheduler_sim.gym import ENVIRONMENTS  # noqa: E402
from scheduler_sim.gym.observation import HORIZONS, QUEUE, TIME, scaled  # noqa: E402
from scheduler_sim.gym.orders import OFFERED, WEIGHTED  # noqa: E402
from scheduler_sim.gym.rewards import REWARDS  # noqa: E402
from scheduler_sim.units import HOUR, MINUTE  # noqa: E402

PAGE = (ROOT / "docs" / "reference" / "gym.md").read_text(encoding="utf-8")


def first_cells(after: str) -> list[str]:
    """Names in the first column of the table that begins with a row."""
    rows = PAGE[PAGE.index(after) :].split("\n\n")[0].splitlines()[2:]
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])]


def test_its_tables_are_those_of_the_code() -> None:
    assert first_cells("| id |") == list(ENVIRONMENTS)
    assert first_cells("| `queue` [window, 8] |") == list(QUEUE)
    assert first_cells("| name | a step") == list(REWARDS)
    assert len(QUEUE) == 8
    assert f"`running` [modules, {len(HORIZONS)}]" in PAGE
    times = re.search(r"idle in ([\d, ]+) min, ([\d, ]+) and (\d+) h", PAGE)
    assert times
    minutes, hours = ([int(one) for one in text.split(", ")] for text in times.groups()[:2])
    assert [*(m * MINUTE for m in minutes), *(h * HOUR for h in (*hours, int(times[3])))] == list(HORIZONS)
    assert re.findall(r"`(\w+)`", PAGE[PAGE.index("| `time` [4]") :].split("\n")[0])[1:] == list(TIME)
    assert " | ".join(["`orders`", ", ".join(f"`{name}`" for name in OFFERED)]) in PAGE
    assert "{}`, `{}`".format("over `limit", WEIGHTED[1]) in PAGE
    said = "one minute is {:.2f}, one hour {:.2f}, one day {:.2f}".format(*scaled([60, HOUR, 24 * HOUR]))
    assert said in " ".join(PAGE.split())
