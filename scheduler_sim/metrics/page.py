"""The tables of docs/reference/metrics.md and statistics.md, rendered from the table of metrics."""

from __future__ import annotations

import re
from collections.abc import Sequence

from scheduler_sim.metrics import table
from scheduler_sim.metrics.metric import MODULE, SUMMARY, Metric

_MARKS = re.compile(r"(<!-- (\w+): rendered .*? -->\n).*?(<!-- end -->)", re.DOTALL)


def filled(page: str) -> str:
    """Return a page with its tables rendered anew, each between its marks."""
    top = table.of_block()
    tables = {
        "components": [row for row in top if (row.of_run or row.of_jobs) and row.by != MODULE],
        "measures": [row for row in top if row.of_part or row.of_jobs],
    }
    for row in table.METRICS:
        if row.table:
            tables.setdefault(row.table, []).append(row)
    return _MARKS.sub(lambda found: f"{found[1]}\n{_table(tables[found[2]])}\n{found[3]}", page)


def _table(rows: Sequence[Metric]) -> str:
    """Render metrics in Markdown, with the equations of D2.3 where there are some."""
    columns = [
        "key",
        "unit",
        *(["equation"] if any(row.equation for row in rows) else []),
        "better",
        "formula",
    ]
    lines = [_line(columns), "|" + "---|" * len(columns)]
    for row in rows:
        unit = ", ".join(filter(None, (row.unit, row.by if row.by == SUMMARY else "")))
        cells = {"key": f"`{row.name}`", "unit": unit, "equation": row.equation, "better": row.better}
        lines.append(_line([(cells | {"formula": row.formula})[column] for column in columns]))
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


if __name__ == "__main__":
    import sys
    from pathlib import Path

    for path in map(Path, sys.argv[1:]):
        path.write_text(filled(path.read_text(encoding="utf-8")), encoding="utf-8")
