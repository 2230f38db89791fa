"""Tables of the model of user run time estimates, facts read off four logs by its authors.

Source: ``est_model.cc`` in the Parallel Workloads Archive (Tsafrir, Etsion, Feitelson 2005).
"""

from __future__ import annotations

_MINUTE, _HOUR = 60, 3600

COMMON = tuple(minutes * _MINUTE for minutes in (5, 10, 15, 20, 30)) + tuple(
    hours * _HOUR for hours in (1, 2, 3, 4, 5, 6, 8, 10, 12, 18)
)
"""Estimates (s) among the 20 most popular of all four logs, besides the largest one."""

ROUND = tuple(hours * _HOUR for hours in (200, 100, 50, 10, 5, 2, 1)) + tuple(
    minutes * _MINUTE for minutes in (20, 10, 5)
)
"""Units (s) whose multiples complete the popular estimates, the first unit first, downwards."""

POPULARITY = (
    (3, 1, 1, 1),
    (1, 3, 4, 6),
    (4, 4, 10, 5),
    (17, 2, 14, 3),
    (13, 12, 20, 7),
    (7, 9, 2, 2),
    (8, 8, 3, 18),
    (18, 18, 7, 19),
    (2, 6, 12, 4),
    (6, 7, 6, 11),
    (16, 11, 19, 20),
    (10, 20, 5, 9),
    (5, 16, 18, 10),
    (15, 5, 16, 14),
    (14, 14, 9, 13),
    (19, 13, 17, 16),
    (11, 10, 15, 15),
    (12, 15, 13, 17),
    (9, 17, 8, 8),
    (20, 19, 11, 12),
)
"""Rank in popularity of the 20 popular estimates, the largest first, the others by length.

Columns: the four logs, in the authors’ words sdsc-106, ctc, kth4h (jobs of at most 4 h) and blue.
"""

VALUES_BY_JOBS = (
    (0, 0),
    (20, 10),
    (200, 20),
    (1_000, 35),
    (10_000, 90),
    (70_000, 340),
    (250_000, 565),
)
"""How many different estimates a log of so many jobs has; straight lines between, no more beyond."""
