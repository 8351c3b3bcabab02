"""Student's t distribution, by the incomplete beta function (DLMF section 8.17), in plain Python."""

import math
from functools import lru_cache

_TINY = 1e-300
_CONVERGED = 1e-14
_MOST_STEPS = 500
_QUANTILE_ERROR = 1e-10


def t_two_sided_p(t: float, degrees: float) -> float:
    """Return the probability that |T| is at least |t| with `degrees` degrees of freedom."""
    if math.isinf(t):
        return 0.0
    return _incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t))


@lru_cache(maxsize=4096)
def t_quantile(probability: float, degrees: float) -> float:
    """Return the t below which a share of `probability` (0.5 to 1, exclusive) lies."""
    if not 0.5 <= probability < 1:
        raise ValueError(f"probability {probability} is outside 0.5 to 1")
    low, high = 0.0, 1.0
    while 1 - t_two_sided_p(high, degrees) / 2 < probability:
        high *= 2
    while high - low > _QUANTILE_ERROR * high:
        middle = (low + high) / 2
        if 1 - t_two_sided_p(middle, degrees) / 2 < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b)."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    # The continued fraction converges fast on one side only; the other side is its complement.
    if x < (a + 1) / (a + b + 2):
        return math.exp(log_front) * _continued_fraction(a, b, x) / a
    return 1 - math.exp(log_front) * _continued_fraction(b, a, 1 - x) / b


def _continued_fraction(a: float, b: float, x: float) -> float:
    """Evaluate DLMF 8.17.22 by Lentz's method."""
    c, d = 1.0, 1 / _away_from_zero(1 - (a + b) * x / (a + 1))
    result = d
    for m in range(1, _MOST_STEPS):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _away_from_zero(1 + numerator * d)
            c = _away_from_zero(1 + numerator / c)
            change = c * d
            result *= change
        if abs(change - 1) < _CONVERGED:
            break
    return result


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
