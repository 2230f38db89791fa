"""What a run time may depend on: the parameters of measured points, of normal forms, and of jobs."""

from __future__ import annotations

PROCESSES, SIZE, CLOCK = "processes", "size", "clock_khz"

PARAMETERS: dict[str, tuple[str, ...]] = {
    PROCESSES: ("p", "procs", "number of processes", "nprocs"),
    "nodes": ("node",),
    "ranks": (),
    "threads": (),
    SIZE: ("n", "problem_size", "problem size", "problemsize"),
    CLOCK: ("khz", "clock", "frequency_khz"),
}
"""Parameters by name, with other names that files of points have for them."""


def parameter(written: str) -> str | None:
    """Return the name of a parameter as it is spelt here, None for a word that names none."""
    word = written.strip().strip('"').lower()
    return next((name for name, others in PARAMETERS.items() if word == name or word in others), None)
