"""A fit as a page of text, and as a recipe file that says where it comes from."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import yaml

from scheduler_sim.generation.fitting.distance import DIFFERS, NEAR, VERDICTS
from scheduler_sim.generation.fitting.learnt import Learnt
from scheduler_sim.generation.fitting.words import spoken
from scheduler_sim.generation.recipe import Recipe
from scheduler_sim.output.rule import Kind

_WIDTH = 108
RECIPE = Kind.read_by("a recipe", Recipe.from_yaml)


def fit_text(fit: Learnt) -> str:
    """Return how good the fit is, parameters with their intervals, the daily cycle, the tests, the notes."""
    lines = [*textwrap.wrap(_judged(fit), _WIDTH), "", *_parameters(fit), "", *_cycle(fit), ""]
    lines += [*_tests(fit), ""]
    for note in fit.notes:
        lines += textwrap.wrap(note, _WIDTH, initial_indent="- ", subsequent_indent="  ")
    return "\n".join([*lines, ""])


def recipe_text(fits: Sequence[Learnt], recipe: Mapping[str, Any], trace: str) -> str:
    """Return a recipe in YAML, headed by comments: the trace it was learnt from, and the page of each fit."""
    comments = [f"Learnt from {trace}."]
    for fit in fits:
        comments += ["", *fit_text(fit).splitlines()]
    heading = "\n".join(f"# {line}".rstrip() for comment in comments for line in comment.splitlines() or [""])
    text = yaml.safe_dump(
        dict(recipe), sort_keys=False, default_flow_style=None, width=_WIDTH, allow_unicode=True
    )
    return f"{heading}\n\n{text}"


def _judged(fit: Learnt) -> str:
    """Say how well the model fits, by the worst verdict of each law: well, roughly, or not in some."""
    worst: dict[str, str] = {}
    for law, verdict in fit.tests[["law", "verdict"]].itertuples(index=False):
        word = verdict.partition(":")[0]
        worst[law] = max(worst.get(law, word), word, key=VERDICTS.index)
    by_word = {word: [law for law in worst if worst[law] == word] for word in reversed(VERDICTS)}
    details = "; ".join(f"{word}: {', '.join(laws)}" for word, laws in by_word.items() if laws)
    if by_word[DIFFERS]:
        return f"does not fit in {len(by_word[DIFFERS])} of {len(worst)} laws ({details})"
    return f"fits {'roughly' if by_word[NEAR] else 'well'} ({details})"


def _parameters(fit: Learnt) -> Iterator[str]:
    module = f", module {fit.module}" if fit.module else ""
    yield f"{fit.jobs} jobs of {fit.name}{module}, on {fit.nodes} nodes"
    yield ""
    yield f"{'parameter':28}{'value':>12}   95 % interval"
    one_a_law = ~fit.estimates["parameter"].str.startswith("arrivals.")
    for parameter, value, low, high in fit.estimates[one_a_law].itertuples(index=False):
        seconds = parameter.endswith(("shortest", "longest"))
        said = [spoken(x) if seconds else f"{x:.5g}" for x in (value, low, high)]
        interval = "not known" if np.isnan(low) else f"{said[1]} to {said[2]}"
        yield f"{parameter:28}{said[0]:>12}   {interval}"


def _cycle(fit: Learnt) -> Iterator[str]:
    arrivals = fit.model.arrivals
    yield f"arrivals: {arrivals.process} process; jobs a day in each hour, from 0:00 and from 12:00"
    yield from (_row(arrivals.cycle.hourly[start : start + 12]) for start in (0, 12))
    if arrivals.cycle.weekly:
        yield "weights of the days, Monday first"
        yield _row(arrivals.cycle.weekly)


def _row(values: tuple[float, ...]) -> str:
    return "".join(f"{value:9.3g}" for value in values)


def _tests(fit: Learnt) -> Iterator[str]:
    yield f"{'law':10}{'test':22}{'statistic':>10}{'p':>9}  verdict"
    for law, test, statistic, p_value, _, verdict in fit.tests.itertuples(index=False):
        yield f"{law:10}{test:22}{statistic:>10.4g}{p_value:>9.2g}  {verdict}"
