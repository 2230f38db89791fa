"""The random numbers of the reference generator: ranlib, as far as Cirne's model draws from it.

P. L'Ecuyer, "Efficient and portable combined random number generators", CACM 31 (1988);
J. H. Ahrens, U. Dieter, "Computer methods for sampling from the exponential and normal
distributions", CACM 15 (1972) (algorithm SA), and "Computer methods for sampling from gamma, beta,
Poisson and binomial distributions", Computing 12 (1974) (algorithm GS).
"""

from __future__ import annotations

import math

_M1, _A1 = 2147483563, 40014
_M2, _A2 = 2147483399, 40692
_TO_UNIT = 4.656613057e-10
_GS_STEP = 0.3678794
_SA_SUMS = (0.6931472, 0.9333737, 0.9888778, 0.9984959, 0.9998293, 0.9999833, 0.9999986, 0.9999999)


class Ranlib:
    """One stream of the combined generator; ``seed`` sets its two halves to seed and seed // 2.

    ``seed`` is from 2 to 2147483398.
    """

    def __init__(self, seed: int) -> None:
        self._s1, self._s2 = seed, seed // 2

    def integer(self) -> int:
        """Draw an integer from 1 to 2147483562."""
        self._s1 = _A1 * self._s1 % _M1
        self._s2 = _A2 * self._s2 % _M2
        z = self._s1 - self._s2
        return z + 2147483562 if z < 1 else z

    def probability(self) -> float:
        """Draw a uniform in [0, 1], both ends included."""
        return (self.integer() - 1) / 2147483561

    def unit(self) -> float:
        """Draw a uniform in (0, 1), as the variates below take it."""
        return self.integer() * _TO_UNIT

    def exponential(self) -> float:
        """Draw a standard exponential by algorithm SA."""
        a = 0.0
        u = 2.0 * self.unit()
        while u < 1.0:
            a += _SA_SUMS[0]
            u *= 2.0
        u -= 1.0
        if u <= _SA_SUMS[0]:
            return a + u
        least = self.unit()
        for limit in _SA_SUMS[1:]:
            least = min(least, self.unit())
            if u <= limit:
                break
        return a + least * _SA_SUMS[0]

    def gamma(self, shape: float) -> float:
        """Draw a gamma variate of unit scale and shape below 1 by algorithm GS."""
        b = 1.0 + _GS_STEP * shape
        while True:
            p = b * self.unit()
            if p < 1.0:
                x = math.exp(math.log(p) / shape)
                if self.exponential() >= x:
                    return x
            else:
                x = -math.log((b - p) / shape)
                if self.exponential() >= (1.0 - shape) * math.log(x):
                    return x
