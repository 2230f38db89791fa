"""CSV files of points, of learnt power and of series, as text."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from scheduler_sim.errors import TraceError


def csv_texts(path: str | Path) -> pd.DataFrame:
    """Read a CSV file with a header, every cell as text. Raises TraceError for one that cannot be read."""
    try:
        return pd.read_csv(path, dtype=str, keep_default_na=False, skip_blank_lines=False)
    except FileNotFoundError:
        raise TraceError("no such file", file=path) from None
    except (OSError, UnicodeDecodeError, ValueError) as error:  # pandas' own errors are ValueErrors
        reason = " ".join(str(error).split())[:200]
        raise TraceError(f"not readable as CSV: {reason}", file=path) from None
