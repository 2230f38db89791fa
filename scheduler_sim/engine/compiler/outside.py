"""What compiled code of a user's finds in this process by name: words of ours, and functions of Python's.

An address would be that of one process alone, and its code could not be kept.
"""

from __future__ import annotations

import ctypes

import numpy as np

LINE, ROW, DEPTH, TURNS = range(4)
WORDS = np.zeros(4, dtype=np.int64)
"""The line at which a user's code is, the row of the job it has looked at last (-1 = none), how deep it is
in calls of itself, and how many turns its loops have made."""

WHERE, CHECK_SIGNALS, OCCURRED = (
    f"scheduler_sim_{name}" for name in ("where", "check_signals", "error_occurred")
)
"""Names: of those words, and of two functions of Python's: one calls the handlers of signals that have come,
one says whether an exception is waiting to be raised."""

ADDRESSES = {
    WHERE: int(WORDS.ctypes.data),
    CHECK_SIGNALS: ctypes.cast(ctypes.pythonapi.PyErr_CheckSignals, ctypes.c_void_p).value or 0,
    OCCURRED: ctypes.cast(ctypes.pythonapi.PyErr_Occurred, ctypes.c_void_p).value or 0,
}
"""Where they are."""
