"""Amounts of resources by name, as text in Slurm's notation: ``gres/gpu:a100=2,license/cfd=1``."""

from __future__ import annotations


def tres_in(text: str) -> dict[str, int]:
    """Read one such text. Raises ValueError where it is none."""
    found = [one.rpartition("=") for one in text.split(",")] if text else []
    if not all(name and amount.isdigit() for name, _, amount in found):
        raise ValueError(f"{text!r:.60} are no amounts of resources")
    return {name: int(amount) for name, _, amount in found}
