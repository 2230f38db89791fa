"""A bound on the processor time of a case, and what is told of an error in one."""

from __future__ import annotations

import signal
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class TooLongError(BaseException):
    """The processor time of a case is over; no handler of errors may swallow it."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise TooLongError after so much processor time (s)."""

    def over(*_: Any) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGPROF, over)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def trace_of(error: BaseException) -> str:
    """Return the last lines of a traceback."""
    return "".join(traceback.format_exception(error)[-12:])[-4000:]
