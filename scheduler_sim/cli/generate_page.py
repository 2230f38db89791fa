"""What was generated, as text."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

import numpy as np

from scheduler_sim.cli.terminal import table
from scheduler_sim.generation.cirne import Cirne
from scheduler_sim.generation.generate import Generated
from scheduler_sim.generation.shapes import Shape
from scheduler_sim.report.wording import count, duration, percent, plain

UNEVEN = 1.25
"""By how much the ends of modules may differ without a word."""


def generated_text(generated: Generated) -> str:
    """Return the page: each module's jobs, module lists, applications, workflows."""
    recipe, rows = generated.recipe, len(generated.base.nodes)
    title = f"{plain(recipe.name)}, seed {generated.seed}: {count(rows, 'job')}"
    parts = [title, table(_modules(generated))]
    facts = [*_cancelled(generated), *_lists(generated), *_applications(generated), *_workflows(generated)]
    return "\n\n".join([*parts, *(["\n".join(facts)] if facts else [])])


def warnings_of(generated: Generated, format: str) -> Iterator[str]:
    """Yield what a person should know of the trace."""
    base, names = generated.base, [plain(module.name) for module in generated.recipe.modules]
    ends = [int(base.submit_time[base.module == place].max(initial=0)) for place in range(len(names))]
    first, last = min(ends), max(ends)
    if last > UNEVEN * first and not generated.recipe.cut:
        shorter, longer = names[ends.index(first)], names[ends.index(last)]
        yield (
            f"submissions to {shorter} end after {duration(first)}, to {longer} after {duration(last)};"
            " cut: true ends the trace with the first"
        )
    if format == "swf" and len(names) > 1:
        yield "SWF numbers partitions and has no lists; a system maps the numbers by swf: {partitions: ...}"


def _modules(generated: Generated) -> list[tuple[str, ...]]:
    base = generated.base
    rows: list[tuple[str, ...]] = [
        ("module", "nodes", "jobs", "submitted over", "mean nodes", "mean run", "load", "of the law")
    ]
    for place, module in enumerate(generated.recipe.modules):
        own = base.rows((base.module == place) & (base.cancel_lag < 0))
        span = int(own.submit_time[-1] - own.submit_time[0]) if len(own.nodes) else 0
        load = float((own.nodes * own.run_time).sum()) / (module.nodes * span) if span else None
        model = module.model
        rows.append(
            (
                plain(module.name),
                f"{module.nodes:,}",
                f"{np.count_nonzero(base.module == place):,}",
                duration(span),
                f"{own.nodes.mean():.2f}" if len(own.nodes) else "",
                duration(round(float(own.run_time.mean()))) if len(own.nodes) else "",
                "" if load is None else f"{load:.3f}",
                f"{model.offered_load(module.nodes):.3f}" if isinstance(model, Cirne) else "",
            )
        )
    return rows


def _cancelled(generated: Generated) -> list[str]:
    cancelled = int(np.count_nonzero(generated.base.cancel_lag >= 0))
    return [f"  cancelled     {count(cancelled, 'job')}"] if cancelled else []


def _lists(generated: Generated) -> list[str]:
    if generated.recipe.module_lists is None:
        return []
    uses = np.bincount(generated.partition, minlength=len(generated.partitions))
    named = [
        f"{plain(text)} ({n:,})" for text, n in zip(generated.partitions, uses.tolist(), strict=True) if n
    ]
    return [f"  partitions    {', '.join(named)}"]


def _applications(generated: Generated) -> list[str]:
    types = generated.recipe.applications
    if types is None:
        return []
    uses = np.bincount(generated.app, minlength=len(types.names) + 1)[1:]
    shares = [f"{i} {plain(name)} ({percent(n / len(generated.app))})" for i, (name, n) in
              enumerate(zip(types.names, uses.tolist(), strict=True), start=1)]  # fmt: skip
    return [f"  applications  {', '.join(shares)}"]


def _workflows(generated: Generated) -> list[str]:
    if generated.workflows is None or generated.recipe.workflows is None:
        return []
    heads = generated.workflows.heads
    share = generated.workflows.components() / len(generated.base.nodes)
    kinds: dict[str, int] = {}
    for shape, rows in heads.items():
        kinds[_wording(shape)] = kinds.get(_wording(shape), 0) + len(rows)
    found = ", ".join(f"{n:,} {kind}" for kind, n in sorted(kinds.items()))
    wished = generated.recipe.workflows.share()
    return [
        f"  workflows     {100 * share:.1f} % of the jobs; the law, if all fitted: {100 * wished:.1f} %",
        *(f"                {line}" for line in wrap(found, 90)),
    ]


def _wording(shape: Shape) -> str:
    if shape.kind == "chain":
        return f"chains of {shape.depth}"
    return f"{shape.kind.replace('_', '-')}s of {shape.components}"
