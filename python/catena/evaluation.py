"""How far two sets of draws are apart."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _core
from ._arrays import ArrayLike, as_rows, as_seed
from ._settings import entries


def metrics() -> dict[str, str]:
    """The metrics by name, with what they measure.

    >>> metrics()["sw1"]
    'sliced Wasserstein-1 distance, 1,000 projections'
    """
    return {name: entry["help"] for name, entry in entries(_core.metrics()).items()}


def _draws_of(value: Any, name: str) -> tuple[list[str] | None, np.ndarray]:
    if isinstance(value, (str, os.PathLike)):
        parameters, draws = _core.read_draws(os.fspath(value))
        return list(parameters) or None, draws
    return None, as_rows(value, "evaluate", name)


def evaluate(
    a: ArrayLike | str | os.PathLike[str],
    b: ArrayLike | str | os.PathLike[str],
    *,
    metrics: str | Sequence[str] | None = None,
    seed: int | None = 0,
    threads: int = 0,
) -> dict[str, Any]:
    """Compares draws a [N, d] with those of the reference b by the metrics named, or by all; files of draws are read.

    A metric is a number, or a list with one for each parameter.

    >>> a = np.random.default_rng(0).standard_normal((200, 2))
    >>> evaluate(a, a + 3, metrics="mean_difference")["mean_difference"][0] < -2
    True
    """
    names_a, rows_a = _draws_of(a, "a")
    names_b, rows_b = _draws_of(b, "b")
    if names_a is not None and names_b is not None and names_a != names_b:
        if sorted(names_a) != sorted(names_b):
            raise ValueError(f"evaluate: the parameters of b are {', '.join(names_b)}, but must be {', '.join(names_a)}")
        rows_b = np.ascontiguousarray(rows_b[:, [names_b.index(name) for name in names_a]])
    chosen = [metrics] if isinstance(metrics, str) else list(metrics or entries(_core.metrics()))
    return json.loads(_core.evaluate(rows_a, rows_b, chosen, as_seed(seed, "evaluate"), threads))
