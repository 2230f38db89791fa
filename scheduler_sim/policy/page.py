"""The tables of docs/reference/policy.md, rendered from the table of schemes."""

from __future__ import annotations

from scheduler_sim.config.page import filled as page_with
from scheduler_sim.config.page import row
from scheduler_sim.policy.schemes import (
    AHEAD,
    ALL,
    AS_ASKED,
    NEEDS,
    PLACEMENTS,
    RESERVED,
    SCHEMES,
    SHARED,
    SWITCHING,
    UNITS,
    Pass,
    Scheme,
)

DEPTHS = {
    0: "none",
    1: "`depth`, by default 1, a module",
    ALL: "every component in the queue",
    AS_ASKED: "those it asks for",
}
HANDLED = {
    PLACEMENTS: "several placements, shared resources",
    UNITS: "units",
    AHEAD: "power caps",
    SWITCHING: "nodes that are switched off",
    SHARED: "shared nodes",
    RESERVED: "advance reservations",
}


def filled(page: str) -> str:
    """Return the page with its tables rendered anew, each between its marks."""
    return page_with(page, {"schemes": schemes_table, "passes": passes_table})


def schemes_table() -> str:
    """Return the schemes: what each lets pass, reserves and promises."""
    head = (
        "`backfill`",
        "policy by name",
        "what may pass a blocked component",
        "reservations",
        "promised",
    )
    rows = [row((_code(s.name), _code(s.policy), s.passing, DEPTHS[s.depth], s.promise)) for s in SCHEMES]
    return "\n".join([row(head), "|---|---|---|---|---|", *rows])


def passes_table() -> str:
    """Return the pass that each scheme makes, and for which runs: the first that handles what a run has."""
    rows = [row((_code(scheme.name), _passes(scheme))) for scheme in SCHEMES]
    return "\n".join([row(("`backfill`", "passes")), "|---|---|", *rows])


def _passes(scheme: Scheme) -> str:
    return "; ".join(f"`{one.name}`{_when(one, scheme)} ({_handled(one.handles)})" for one in scheme.passes)


def _when(one: Pass, scheme: Scheme) -> str:
    """Return the condition on a key that the scheme has."""
    keys = {"reservation_depth": "depth"}
    named = {keys.get(key, key): value for key, value in one.only.items()}
    return "".join(f" with `{key}: {value}`" for key, value in named.items() if key in scheme.keys)


def _handled(handles: frozenset[str]) -> str:
    if handles == set(NEEDS):
        return "every run"
    return ", ".join(HANDLED[need] for need in NEEDS if need in handles)


def _code(word: str) -> str:
    return word and f"`{word}`"


if __name__ == "__main__":
    import sys
    from pathlib import Path

    path = Path(sys.argv[1])
    path.write_text(filled(path.read_text(encoding="utf-8")), encoding="utf-8")
