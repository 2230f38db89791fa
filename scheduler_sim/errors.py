"""What can go wrong, in words a person can act on.

``InputError`` and its kin mean that the input is wrong (exit code 2); any other
``SchedulerSimError`` means that the simulator could not do its work (exit code 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


class SchedulerSimError(Exception):
    """Base of every error this package raises on purpose."""

    exit_code = 1


class InputError(SchedulerSimError):
    """Something the user gave is wrong: a file, a value, an option."""

    exit_code = 2


class TraceError(InputError):
    """A job trace that cannot be read as what it claims to be.

    Parameters
    ----------
    message : what is wrong, in one sentence without the place.
    file : the trace; line : 1-based line number; field : name or position;
    found : the offending text; allowed : what may stand there.

    Attributes
    ----------
    rows : int64[n], all rows with this fault, where whoever raises it knows them
    """

    rows: np.ndarray | None = None

    def __init__(
        self,
        message: str,
        *,
        file: str | Path | None = None,
        line: int | None = None,
        field: str | None = None,
        found: object | None = None,
        allowed: str | None = None,
    ) -> None:
        self.message = message
        self.file, self.line, self.field, self.found, self.allowed = file, line, field, found, allowed
        place = ":".join(str(part) for part in (file, line) if part is not None)
        text = f"{place}: {message}" if place else message
        if field is not None:
            text += f"; field {field}"
        if found is not None:
            text += f"; found {_quoted(found)}"
        if allowed is not None:
            text += f"; allowed: {allowed}"
        super().__init__(text)


class ConfigError(InputError):
    """One or more problems in a configuration, all of them listed at once."""

    def __init__(self, problems: Sequence[str] | str) -> None:
        self.problems = [problems] if isinstance(problems, str) else list(problems)
        super().__init__("\n".join(self.problems))


class BesideJobs(ConfigError):
    """A setting that does not go with some components of a trace, all of which ask for the same.

    Attributes
    ----------
    asked : what these ask for, by its code in ``workload.fields.SKIP_REASONS``
    """

    def __init__(self, problem: str, asked: int) -> None:
        super().__init__(problem)
        self.asked = asked


class InvariantError(SchedulerSimError):
    """A result that breaks a law every schedule must keep."""


def did_you_mean(found: str, allowed: Sequence[str]) -> str:
    """Return `` (did you mean 'x'?)`` for the nearest allowed word, or nothing; never for the word itself."""
    near = get_close_matches(found.lower(), [word.lower() for word in allowed], n=1)
    original = {word.lower(): word for word in allowed}
    hint = original[near[0]] if near else found
    return f" (did you mean {hint!r}?)" if hint != found else ""


def _quoted(found: object) -> str:
    text = repr(found) if isinstance(found, str) else str(found)
    return text if len(text) <= 80 else text[:77] + "..."
