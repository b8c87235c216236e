"""A simulator whose posterior is known: a random walk with drift, x' = x + θ + N(0, 0.5²), θ ~ N(0, 1)."""

import numpy as np

QUIET = {"show_progress_bars": False}
NOISE = 0.5


def drift_step(theta, x, rng):
    return x + theta + NOISE * rng.standard_normal(x.shape)


def exact_drift(series):
    """Mean and standard deviation of p(θ | series)."""
    increments = np.diff(series[:, 0])
    precision = 1 + len(increments) / NOISE**2
    return increments.sum() / NOISE**2 / precision, precision**-0.5
