"""Elementary functions and variates that give the same floats on every machine.

NumPy's own ``exp2``, ``log`` and ``power`` differ in the last bit between processors, which
now and then moves a rounded second. Here only operations that IEEE 754 rounds correctly are
used (+ − × ÷, square root, scaling by powers of two), each in an array operation of its own,
so that no compiler fuses two of them. Errors stay below 4 units in the last place.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

LN2 = 0.6931471805599453
_EXP2_TERMS = 14
_LOG_TERMS = 12
_BLOCK = 1 << 15  # values at a time: they and their temporaries stay in the cache


def exp2(x: np.ndarray) -> np.ndarray:
    """Return 2**x, float64, for an array of |x| < 1000."""
    return _by_blocks(_exp2, np.asarray(x, dtype=np.float64))


def exp(x: np.ndarray) -> np.ndarray:
    """Return e**x, float64, for an array of |x| < 690."""
    return exp2(np.asarray(x, dtype=np.float64) / LN2)


def log(x: np.ndarray) -> np.ndarray:
    """Return the natural logarithm, float64, of an array of positive normal numbers."""
    return _by_blocks(_log, np.asarray(x, dtype=np.float64))


def log2(x: np.ndarray) -> np.ndarray:
    """Return the binary logarithm, float64, exact for powers of two."""
    mantissa, exponent = np.frexp(np.asarray(x, dtype=np.float64))
    power = mantissa == 0.5
    return np.where(power, exponent - 1.0, log(np.where(power, 1.0, mantissa)) / LN2 + exponent)


def open_uniform(random: np.random.Generator, count: int) -> np.ndarray:
    """Draw uniforms in (0, 1], fit for a logarithm."""
    return 1.0 - random.random(count)


def exponential(random: np.random.Generator, count: int) -> np.ndarray:
    """Draw standard exponentials by inversion, one uniform each."""
    return -log(open_uniform(random, count))


def gamma(random: np.random.Generator, shape: float, count: int) -> np.ndarray:
    """Draw gamma variates of unit scale: Marsaglia and Tsang (ACM TOMS 26, 2000), polar normals.

    For a shape below 1 a variate of shape + 1 is multiplied by U**(1/shape), as they advise.
    """
    if shape < 1.0:
        boost = exp2(np.maximum(log2(open_uniform(random, count)) / shape, -900.0))
        boosted: np.ndarray = gamma(random, shape + 1.0, count) * boost
        return boosted
    d = shape - 1.0 / 3.0
    c = 1.0 / np.sqrt(9.0 * d)
    drawn = np.empty(count)
    wanting = np.arange(count)
    while len(wanting):
        x = normal(random, len(wanting))
        root = 1.0 + c * x
        v = root * root * root
        inside = v > 0.0
        log_u = log(open_uniform(random, len(wanting)))
        accepted = inside & (log_u < 0.5 * x * x + d - d * v + d * log(np.where(inside, v, 1.0)))
        drawn[wanting[accepted]] = d * v[accepted]
        wanting = wanting[~accepted]
    return drawn


def normal(random: np.random.Generator, count: int) -> np.ndarray:
    """Draw standard normals by Marsaglia's polar method, one a point (the other is not used)."""
    drawn = np.empty(count)
    wanting = np.arange(count)
    while len(wanting):
        x = 2.0 * random.random(len(wanting)) - 1.0
        y = 2.0 * random.random(len(wanting)) - 1.0
        s = x * x + y * y
        accepted = (s < 1.0) & (s > 0.0)
        s = s[accepted]
        drawn[wanting[accepted]] = x[accepted] * np.sqrt(-2.0 * log(s) / s)
        wanting = wanting[~accepted]
    return drawn


def _by_blocks(function: Callable[[np.ndarray], np.ndarray], x: np.ndarray) -> np.ndarray:
    if x.size <= _BLOCK:
        return function(x)
    flat = x.ravel()
    out = np.empty_like(flat)
    for start in range(0, len(flat), _BLOCK):
        out[start : start + _BLOCK] = function(flat[start : start + _BLOCK])
    return out.reshape(x.shape)


def _exp2(x: np.ndarray) -> np.ndarray:
    """2**whole by scaling, times e**(rest·ln 2) by its power series, |rest| ≤ ½."""
    whole = np.rint(x)
    t = (x - whole) * LN2
    series = np.ones_like(t)
    for k in range(_EXP2_TERMS, 0, -1):
        series = 1.0 + series * t / k
    power: np.ndarray = np.ldexp(series, whole.astype(np.int32))
    return power


def _log(x: np.ndarray) -> np.ndarray:
    """exponent·ln 2 + 2 atanh((m − 1)/(m + 1)) by its power series, m in [√½, √2)."""
    mantissa, exponent = np.frexp(x)
    low = mantissa < 0.7071067811865476
    mantissa = np.where(low, 2.0 * mantissa, mantissa)
    exponent = exponent - low
    s = (mantissa - 1.0) / (mantissa + 1.0)
    square = s * s
    series = np.zeros_like(s)
    for k in range(_LOG_TERMS, -1, -1):
        series = 1.0 / (2 * k + 1) + series * square
    logarithm: np.ndarray = exponent * LN2 + 2.0 * s * series
    return logarithm
