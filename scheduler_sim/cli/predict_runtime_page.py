"""The page of ``predict-runtime``: run times at targets, and what they are made of."""

from __future__ import annotations

from collections.abc import Sequence

from scheduler_sim.cli.terminal import table
from scheduler_sim.cli.wording import number
from scheduler_sim.report.wording import count, plain
from scheduler_sim.scaling.curves import Curve
from scheduler_sim.scaling.parameters import CLOCK, PROCESSES, SIZE
from scheduler_sim.scaling.parts import ranked
from scheduler_sim.scaling.profile import Profile, Reference
from scheduler_sim.scaling.targets import LEVEL, Prediction, Target

MOST_PLACES = 6
"""Places of which shares are shown."""

MOST_WARNINGS = 5

MOST_DIGITS = 1e9
"""Values from which powers of ten are easier to read."""


def runtime_text(
    profile: Profile, found: Sequence[Prediction], known: Reference | None, metric: str = ""
) -> str:
    """Return the page; ``metric`` is what is predicted where that is not the run time."""
    of = f"{plain(metric)}, " if metric else ""
    parts = [f"{plain(profile.app)}: {of}{profile.scaling} scaling{_fitted(profile)}"]
    parts += [_times(found, metric), "\n".join(_feet(profile, found, known, metric))]
    parts.append(_parts(profile, found, known, metric))
    return "\n\n".join(part for part in parts if part)


def warnings_of(found: Sequence[Prediction]) -> list[str]:
    """Return what speaks against the predictions, each once, and how many more there are."""
    every = list(dict.fromkeys(said for one in found for said in one.warnings))
    if beyond := sum(one.beyond is not None and one.beyond > 1 for one in found):
        every.insert(0, f"{beyond} of {count(len(found), 'target')} beyond the processes that were fitted")
    if len(every) > MOST_WARNINGS:
        return [*every[:MOST_WARNINGS], f"{len(every) - MOST_WARNINGS} more of that kind"]
    return every


def _fitted(profile: Profile) -> str:
    fitted, others = profile.provenance.fitted, profile.provenance.others
    said = [f"{min(fitted):g} to {max(fitted):g} processes"] if fitted else []
    said += [f"{least:g} to {most:g} {name}" for name, (least, most) in others.items()]
    return f", fitted for {', '.join(said)}" if said else ""


def _times(found: Sequence[Prediction], metric: str) -> str:
    """Return a row for each target; columns in which nothing would stand are left out."""
    rows = []
    for one in found:
        nodes, module, size, khz = one.target
        beyond = "" if one.beyond is None or one.beyond <= 1 else f"{one.beyond:.3g} x"
        band = "" if one.low == one.high else f"{_seconds(one.low)} to {_seconds(one.high)}"
        rows.append(
            {
                "module": plain(module),
                "nodes": f"{nodes:,}",
                SIZE: "" if size is None else f"{size:g}",
                CLOCK: "" if khz is None else f"{khz:,}",
                plain(metric) or "run time, s": _seconds(one.time),
                f"{100 * LEVEL:.0f} % of forms": band,
                "efficiency": "" if metric else f"{one.efficiency:.3g}",
                "node-hours": "" if metric else _seconds(one.node_hours),
                "beyond the points": beyond,
            }
        )
    used = [name for name in rows[0] if any(row[name] for row in rows)]
    return table([used, *([row[name] for name in used] for row in rows)])


def _seconds(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if value >= MOST_DIGITS else number(value)


def _feet(profile: Profile, found: Sequence[Prediction], known: Reference | None, metric: str) -> list[str]:
    """Say what the columns are."""
    said = []
    if known is not None:
        more = "".join(f", {name} {v:g}" for name, v in ((SIZE, known.size), (CLOCK, known.khz)) if v)
        said.append(
            f"Seconds over a known run: {known.time:g} s on {count(known.nodes, 'node')}"
            f" of {plain(known.module)}{more}."
        )
    if isinstance(profile.model, Curve) and not metric:
        least = profile.sizes.least
        said.append(f"Efficiency over {'one node' if least == 1 else f'{least:,} nodes'}.")
    if any(one.low != one.high for one in found):
        said.append(f"{100 * LEVEL:.0f} % of the forms, by weight, that the profile holds predict a value in")
        said.append("this band; it covers neither noise nor other laws, which the envelope of the fit does.")
    return [f"  {line}" for line in said]


def _parts(profile: Profile, found: Sequence[Prediction], known: Reference | None, metric: str) -> str:
    """Return the parts of the time or the metric, the largest at the last target first."""
    last = found[-1].target
    now, what = _now(profile, known, last)
    alike = [one.target for one in found if one.target[1:] == last[1:] and one.target != now]
    places = [now, *alike[-MOST_PLACES:]]
    parts = ranked(profile, places)
    if len(parts) < 2:
        return ""
    heads = [f"at {_place(place, places)}" for place in places]
    laws = any(part.law for part in parts)
    head = [
        "part",
        *(["law, p = processes"] if laws else []),
        *heads,
        f"{plain(metric) or 'seconds'} grow by",
    ]
    rows = [head]
    for part in parts:
        grows = f"{part.growth[-1]:.3g} x" if 0 < part.growth[-1] < float("inf") else "-"
        shares = [f"{100 * share:.1f} %" for share in part.share]
        rows.append([plain(part.name), *([part.law] if laws else []), *shares, grows])
    first = parts[0]
    of = plain(metric) or "run time"
    said = (
        f"  {plain(first.name)} is the largest part {heads[-1]}: {100 * first.share[-1]:.0f} % of the {of};\n"
    )
    said += f"  {100 * first.share[0]:.0f} % {heads[0]}, {what}."
    return f"{said}\n\n{table(rows, left=2 if laws else 1)}"


def _now(profile: Profile, known: Reference | None, target: Target) -> tuple[Target, str]:
    """Return what parts are compared with, and what that is: a known run, the most fitted, or the least."""
    if known is not None:
        return Target(known.nodes, known.module, known.size, known.khz), "the known run"
    if not profile.provenance.fitted:
        return target._replace(nodes=profile.sizes.least), "the smallest size"
    of_node = float(profile.counts(1, target.module)[PROCESSES])
    nodes = max(1, round(max(profile.provenance.fitted) / of_node))
    return target._replace(nodes=nodes), "the most that was fitted"


def _place(place: Target, places: Sequence[Target]) -> str:
    """Say where, as far as places differ."""
    said = [count(place.nodes, "node")]
    said += [plain(place.module)] if len({p.module for p in places}) > 1 else []
    said += [f"size {place.size:g}"] if place.size and len({p.size for p in places}) > 1 else []
    said += [f"{place.khz:,} kHz"] if place.khz and len({p.khz for p in places}) > 1 else []
    return ", ".join(said)
