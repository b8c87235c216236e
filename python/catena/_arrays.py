"""Arrays from outside: NumPy, PyTorch, JAX, pandas, xarray and lists become float64 rows, checked once."""

from __future__ import annotations

import json
import math
import secrets
from typing import Any

import numpy as np

ArrayLike = Any  # whatever as_array takes


def as_array(value: ArrayLike, function: str, name: str) -> np.ndarray:
    """A float64 array of any number of dimensions; no copy where the value already is one."""
    if hasattr(value, "detach"):  # PyTorch: off the tape and off the GPU
        value = value.detach().cpu()
    if not hasattr(value, "__array__") and hasattr(value, "__dlpack__"):
        value = np.from_dlpack(value)
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "fiub":
            raise TypeError
        return array.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        kind = type(value).__name__
        raise TypeError(f"{function}: {name} is a {kind} that is no array of numbers, but must be one") from None


def as_rows(value: ArrayLike, function: str, name: str, columns: int | None = None) -> np.ndarray:
    """[N, columns], C-contiguous. One column may come as a vector; `columns` values as one row."""
    array = as_array(value, function, name)
    if array.ndim == 1:
        array = array[:, np.newaxis] if columns in (None, 1) else array[np.newaxis, :]
    if array.ndim != 2 or (columns is not None and array.shape[1] != columns):
        wanted = f"[N, {columns}]" if columns is not None else "[N, columns]"
        raise ValueError(f"{function}: {name} is of shape {array.shape}, but must be of shape {wanted}")
    return np.ascontiguousarray(array)


def names_of(value: Any) -> list[str] | None:
    """The column names of a pandas DataFrame; None for anything else."""
    columns = getattr(value, "columns", None)
    return None if columns is None else [str(column) for column in columns]


def as_seed(seed: int | None, function: str) -> int:
    """A seed of 64 bits; None asks the operating system for one."""
    if seed is None:
        return secrets.randbits(64)
    try:
        whole = int(seed)
    except (TypeError, ValueError, OverflowError):
        whole = -1
    if whole != seed or not 0 <= whole < 2**64:
        raise ValueError(f"{function}: seed is {seed!r}, but must be None or a whole number from 0 to 2**64 - 1")
    return whole


LARGEST_COUNT = 100_000_000  # of draws, and of transitions of a series: as on the command line


def draw_count(shape: Any, function: str) -> tuple[tuple[int, ...], int]:
    """(1000,) → ((1000,), 1000); sbi's sample_shape. A whole number stands for a shape of that one length."""
    lengths = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    if any(not isinstance(n, (int, np.integer)) or n < 1 for n in lengths):
        raise ValueError(f"{function}: sample_shape is {shape!r}, but must be a tuple of whole numbers, 1 or more")
    count = math.prod(int(n) for n in lengths)
    if count > LARGEST_COUNT:
        raise ValueError(f"{function}: sample_shape is {shape!r}, but must have at most {LARGEST_COUNT:,} draws in all")
    return tuple(int(n) for n in lengths), count


def to_json(value: Any) -> str:
    """JSON text of settings, in which numbers may be NumPy's."""

    def plain(number: Any) -> Any:
        if isinstance(number, np.ndarray):
            return number.tolist()
        if isinstance(number, np.generic):
            return number.item()
        raise TypeError(f"{number!r} is no setting: give a number, a text, True or False")

    return json.dumps(value, default=plain)
