"""The reference page on workload fields, rendered from the field table."""

from __future__ import annotations

from scheduler_sim.workload.fields import FIELDS, MWF_FIELDS, SKIP_REASONS, SWF_FIELDS, Field

_INTRODUCTION = """\
# Workload fields

<!-- Rendered from scheduler_sim/workload/fields.csv by `python -m scheduler_sim.workload.fields_page`. -->

A workload is a table with one row a component, in the order of the trace. Times are whole
seconds on the trace's own clock, sizes whole nodes. Numbers are int64 unless said; text columns
are categoricals, missing text is empty. SWF and MWF give the position of the field in a record of
that format, counted from 1.

Account, QOS and nice are honoured by the policy `slurm`; begin time, hold and the array columns by every
policy. They come from [`sacct`](sacct.md), Parquet or CSV; SWF and MWF have no place for them.

Where the simulator needs more than what the file says, there are two columns: `listed_x` holds
what the file lists, and `x` what the simulator uses. A trace is written back from `listed_x` as
long as it still means `x`.
"""


def fields_page() -> str:
    """Return the reference page in Markdown."""
    rows = [_row(field) for field in FIELDS.values()]
    skipped = [f"| {code} | {reason} |" for code, reason in SKIP_REASONS.items()]
    return "\n".join(
        [
            _INTRODUCTION,
            _table_head("column", "type", "unit", "default", "SWF", "MWF", "what it is"),
            *rows,
            "",
            "## Why a record is skipped",
            "",
            _table_head("`skipped`", "reason"),
            "| 0 | simulated |",
            *skipped,
            "",
            "## SWF by position",
            "",
            _table_head("position", "column"),
            *(f"| {field.swf} | `{field.name}` |" for field in SWF_FIELDS),
            "",
            "## MWF by position",
            "",
            "Records of 41 fields lack position 42; records of 40 lack positions 20 and 34.",
            "",
            _table_head("position", "column"),
            *(f"| {field.mwf} | `{field.name}` |" for field in MWF_FIELDS),
            "",
        ]
    )


def _table_head(*names: str) -> str:
    return f"| {' | '.join(names)} |\n|{'---|' * len(names)}"


def _row(field: Field) -> str:
    default = "empty" if field.is_text else str(field.default)
    cells = (
        f"`{field.name}`",
        field.dtype,
        field.unit,
        default,
        field.swf or "",
        field.mwf or "",
        field.description,
    )
    return f"| {' | '.join(str(cell) for cell in cells)} |"


if __name__ == "__main__":
    import sys

    sys.stdout.write(fields_page())
