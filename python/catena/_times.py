"""Times from outside: numbers, or dates in any of the forms that Python, NumPy, pandas and xarray have for them."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np

from . import _core
from ._arrays import names_of

NAMES = ("time", "t", "date", "datetime", "timestamp", "year")  # of a column or an index, as in CSV files


class Dates(np.ndarray):
    """Seconds since 1970-01-01, one for each row: times that are dates and have no unit yet."""


def as_times(value: Any, function: str, name: str = "times") -> np.ndarray:
    """float64 numbers, or Dates.

    >>> as_times([0, 1, 2.5], "f").tolist()
    [0.0, 1.0, 2.5]
    >>> as_times(["1970-01-02", datetime.date(1970, 1, 3)], "f").tolist()
    [86400.0, 172800.0]
    """
    if isinstance(value, Dates):
        return value
    if type(getattr(value, "dtype", None)).__name__ == "PeriodDtype":  # pandas: the beginnings of periods
        value = getattr(value, "dt", value).to_timestamp()
    for zoned in (value, getattr(value, "dt", None)):
        if getattr(zoned, "tz", None) is not None:
            value = zoned.tz_convert(None)
    array = np.asarray(value).ravel()
    if array.dtype.kind == "m":
        raise TypeError(f"{function}: {name} are time differences, but must be numbers or dates: divide them by their unit")
    if array.dtype.kind == "M":
        if np.isnat(array).any():
            raise ValueError(f"{function}: {name} has a date that is missing (NaT), but must have one for every row")
        seconds = array.astype("datetime64[us]").astype(np.int64) / 1e6
    elif array.dtype.kind in "OUS":
        found = [_seconds(item) for item in array]
        if any(item is None for item in found):
            bad = array[found.index(None)]
            raise ValueError(f"{function}: {name} has {str(bad)!r}, but must have numbers or dates like 1990-05-01")
        seconds = np.array(found, dtype=np.float64)
    elif array.dtype.kind in "fiub":
        return np.ascontiguousarray(array, dtype=np.float64)
    else:
        raise TypeError(f"{function}: {name} is of the type {array.dtype}, but must be numbers or dates")
    return np.ascontiguousarray(seconds).view(Dates)


def _seconds(item: Any) -> float | None:
    if isinstance(item, (datetime.date, np.datetime64)) or hasattr(item, "isoformat"):
        item = item.isoformat() if hasattr(item, "isoformat") else str(item)
    elif hasattr(item, "start_time"):  # pandas' Period
        item = item.start_time.isoformat()
    return _core.seconds_of_date(item) if isinstance(item, str) else None


def split_time(value: Any, function: str) -> tuple[Any, np.ndarray | None]:
    """A table without its times, and them: a column `time` (or another of NAMES) or of dates, an index of dates or with
    such a name, an xarray coordinate. An index of numbers with holes is refused, for it may be the times."""
    if hasattr(value, "coords") and hasattr(value, "dims") and len(value.dims) > 0:  # xarray
        for name in (value.dims[0], *NAMES):
            if name in value.coords and value.coords[name].dims == value.dims[:1]:
                return value.values, as_times(value.coords[name].values, function, f"the coordinate {name}")
        return value, None
    found: list[tuple[str, Any]] = []
    columns = names_of(value) or []
    named = [name for wanted in NAMES for name in columns if name.lower() == wanted]
    dated = [name for name in columns if _is_date(value[name])]
    for name in [*named[:1], *(name for name in dated if name not in named[:1])]:
        found.append((f"the column {name!r}", value[name]))
    index = getattr(value, "index", None)
    if hasattr(index, "dtype") and _index_is_time(index, function):
        found.append(("the index", index))
    if len(found) > 1:
        raise ValueError(f"{function}: {' and '.join(name for name, _ in found)} both look like times, but only one may")
    if not found:
        return value, None
    name, times = found[0]
    rest = value if name == "the index" else value.drop(columns=times.name)
    return rest, as_times(times, function, name)


def _is_date(column: Any) -> bool:
    kind = getattr(getattr(column, "dtype", None), "kind", "")
    return kind == "M" or type(column.dtype).__name__ == "PeriodDtype" if hasattr(column, "dtype") else False


def _index_is_time(index: Any, function: str) -> bool:
    """Whether an index holds times; numbers that may be times but are not called so are refused."""
    if _is_date(index) or getattr(index.dtype, "kind", "") == "m":
        return True
    if str(index.name).lower() in NAMES:
        return True
    numbers = np.asarray(index)
    if numbers.dtype.kind == "O" and len(numbers) > 0 and all(_seconds(item) is not None for item in numbers):
        return True
    if numbers.dtype.kind not in "fiu" or len(numbers) < 2 or (np.diff(numbers) == 1).all():
        return False
    raise ValueError(
        f"{function}: the table has an index of numbers that are not one apart, but it must be clear what they are: call"
        " the index time if they are the times (table.index.name = 'time'), or drop it by reset_index(drop=True)"
    )


def to_datetime64(calendar: str, numbers: np.ndarray) -> np.ndarray:
    """The dates of numbers on a scale, as NumPy has them.

    >>> to_datetime64('{"unit": "month", "origin": "1990-05-01"}', np.array([0.0, 1.0])).astype("datetime64[D]").tolist()
    [datetime.date(1990, 5, 1), datetime.date(1990, 6, 1)]
    """
    seconds = _core.dates_of(calendar, np.ascontiguousarray(numbers, dtype=np.float64))
    return (np.round(seconds * 1e6).astype(np.int64)).astype("datetime64[us]").astype("datetime64[ns]")
