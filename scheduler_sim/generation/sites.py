"""Daily cycles of four sites: polynomials by Cirne and Berman, as the DEEP-EST project used them.

W. Cirne, F. Berman, "A comprehensive model of the supercomputer workload", WWC-4 (2001); the
coefficients are those of the generator behind deliverable D2.3, section 3.2.
"""

from __future__ import annotations

from typing import NamedTuple


class Site(NamedTuple):
    """A daily cycle: half the polynomial's value is the rate on the site's own machine, jobs/s.

    ``polynomial`` has the coefficients of x**13 down to x**0 for x = time of day / 24 h − ½;
    ``nodes`` is the size of the machine it was fitted to.
    """

    nodes: int
    polynomial: tuple[float, ...]


_NONE = (0.0,) * 3

SITES = {
    "anl": Site(
        120,
        (
            0.0, 1.194417e02, 1.069567e03, 1.443500e01, -7.552833e02, -4.871500e01, 1.960167e02,
            1.491917e01, -2.248333e01, -1.554433e00, 1.041417e00, 3.766833e-02, -1.102533e-02, 2.865167e-03,
        ),
    ),
    "ctc": Site(
        430,
        (
            0.0, *_NONE, 0.0, 4.234000e00, -4.303333e-01, -4.308500e00, 1.407367e-01,
            1.360200e00, -6.104667e-02, -1.605150e-01, 1.274250e-02, 9.416833e-03,
        ),
    ),
    "kth": Site(
        100,
        (
            -5.447167e02, -1.024067e03, 5.425500e02, 8.234333e02, -2.101833e02, -2.518833e02, 3.968167e01,
            3.590000e01, -3.694167e00, -2.247000e00, 1.383983e-01, 3.195833e-02, 3.734333e-04, 1.618433e-03,
        ),
    ),
    "sdsc": Site(
        128,
        (
            *_NONE, -9.166000e01, 2.545000e01, 5.026500e01, -1.586583e01, -9.551333e00,
            3.322000e00, 8.097167e-01, -2.601833e-01, -4.313167e-02, 6.112500e-03, 3.543667e-03,
        ),
    ),
}  # fmt: skip
