"""How near a run is to what its trace recorded: in words, by partition and size, and as a picture."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING

from scheduler_sim.metrics.agreement.slices import sliced
from scheduler_sim.metrics.agreement.use import use_of
from scheduler_sim.metrics.agreement.waits import (
    Distance,
    Order,
    Waits,
    can_be_compared,
    spread,
    waits_of,
    within,
)
from scheduler_sim.report.agreement_words import correlation, difference, slice_word
from scheduler_sim.report.column_unit import span_unit
from scheduler_sim.report.html.markup import Markup, scrolling, section, table, tag
from scheduler_sim.report.wording import count, listing, percent, plain, span_text

if TYPE_CHECKING:
    from scheduler_sim.result.result import Result

MOST_PARTITIONS = 20

TITLE = "How near it is to what was recorded"
PICTURE = (
    "Recorded and simulated waits as distributions and one against the other, nodes in use over time, and"
    " mean waits by hour of the week; the numbers are in the text and the tables above."
)


def recorded_section(result: Result) -> list[Markup]:
    """Return the section; nothing where the trace records no starts."""
    if not can_be_compared(result):
        return []
    waits = waits_of(result)
    body = [
        tag("p", _words(result, waits)),
        tag(
            "div",
            [_waits(waits), *(_slices(result, waits, by) for by in ("partition", "size"))],
            class_="side",
        ),
        tag(
            "figure",
            scrolling(tag("img", src=_picture(result), alt=PICTURE), TITLE),
            tag("figcaption", PICTURE),
        ),
    ]
    return [section("recorded", TITLE, body)]


def _words(result: Result, waits: Waits) -> str:
    distance, order, use = Distance.of(waits), Order.of(waits), use_of(result, waits)
    recorded, simulated = use.mean()
    shares = listing(f"{percent(share)} start within {name}" for name, share in within(waits).items())
    left = "".join(f" Left out: {number:,} {why}." for why, number in waits.left_out.items())
    return (
        f"Compared: {count(len(waits.rows), 'component')}.{left} {shares} of the recorded start; half are at"
        f" most {span_text(distance.median_absolute)} from it. The mean wait is"
        f" {difference(distance.mean)} than recorded; means by day differ by {span_text(distance.by_day)} on"
        " average."
        f" Rank correlation of waits (Spearman's rho): {correlation(order.waits)}; of starts (Kendall's tau):"
        f" {correlation(order.kendall)}. Until the last recorded end, the compared components used"
        f" {100 * recorded:.1f} % of all nodes in the record and {100 * simulated:.1f} % in the simulation;"
        f" shares of an hour differ by {100 * use.mean_absolute_difference():.1f} percentage points on"
        " average."
    )


def _waits(waits: Waits) -> Markup:
    sides = {"recorded": waits.recorded, "simulated": waits.simulated}
    spreads = {name: list(spread(values).values()) for name, values in sides.items()}
    unit = span_unit(*spreads.values())
    rows = [[name, *map(unit.written, values)] for name, values in spreads.items()]
    header = map(unit.headed, ["mean", "median", "90 % below"])
    return table("Waits, recorded and simulated", ["wait", *header], rows)


def _slices(result: Result, waits: Waits, by: str) -> Markup:
    found, word = sliced(result, waits, by), slice_word(result, by)
    found = found if by == "size" else found.nlargest(MOST_PARTITIONS, "components")
    wait, apart = span_unit(found["recorded"], found["simulated"]), span_unit(found["difference"])
    rows = [
        [
            plain(name),
            f"{int(row['components']):,}",
            wait.written(row["recorded"]),
            wait.written(row["simulated"]),
            apart.signed(row["difference"]),
        ]
        for name, row in found.iterrows()
    ]
    header = [
        word,
        "components",
        wait.headed("recorded"),
        wait.headed("simulated"),
        apart.headed("difference"),
    ]
    return table(f"Mean waits by {'size' if by == 'size' else word}", header, rows)


def _picture(result: Result) -> str:
    """Draw it into the page."""
    from scheduler_sim.report.agreement_figure import agreement_figure

    return f"data:image/png;base64,{b64encode(agreement_figure(result)._repr_png_()).decode('ascii')}"
