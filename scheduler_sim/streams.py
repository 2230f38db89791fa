"""Random streams: one for each purpose, so that adding one does not shift the others."""

from __future__ import annotations

import hashlib

import numpy as np


def stream(seed: int, purpose: str) -> np.random.Generator:
    """Return the generator of a purpose under a seed, the same on every machine."""
    key = int.from_bytes(hashlib.sha256(purpose.encode()).digest()[:8], "big")
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(key,))))
