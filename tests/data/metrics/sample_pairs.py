"""Twelve pairs of samples for the C2ST, made from a formula so that Python and C++ (tests/evaluate/sample_pairs.h) make
the same ones without a file: kinds equal, shifted, rescaled, missing_mode; 2, 4 and 8 dimensions; 1,000 draws each.

Word k of a seed is splitmix64's k-th output, u_k = (word >> 11 + 1/2) / 2^53, and normal k is
sqrt(-2 log u_2k) cos(2 pi u_2k+1), both in double precision.
"""

import numpy as np

KINDS = ("equal", "shifted", "rescaled", "missing_mode")
DIMENSIONS = (2, 4, 8)
DRAWS = 1000


def normals(seed, count):
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + (np.arange(2 * count, dtype=np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    u = ((z >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    return np.sqrt(-2.0 * np.log(u[0::2])) * np.cos(2.0 * np.pi * u[1::2])


def sample_pair(kind, dimension, draws=DRAWS):
    """(A, B), float64, [draws x dimension] each."""
    number = 1000 * (1 + KINDS.index(kind)) + 10 * dimension
    a = normals(number, draws * dimension).reshape(draws, dimension)
    b = normals(number + 1, draws * dimension).reshape(draws, dimension)
    if kind == "shifted":
        b += 0.3
    elif kind == "rescaled":
        b *= 1.5
    elif kind == "missing_mode":  # A has modes at -2 and 2 in the first parameter, B only the second of them
        a[:, 0] += np.where(np.arange(draws) % 2 == 0, -2.0, 2.0)
        b[:, 0] += 2.0
    # Parameters on different scales, away from zero: the z-scoring has to be right.
    scale = 3.0 * (1 + np.arange(dimension))
    return 7.0 + scale * a, 7.0 + scale * b
