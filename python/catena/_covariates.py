"""Covariates from outside: tables of known inputs as float64 rows with names, and the columns of series that are them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._arrays import as_rows, names_of
from ._times import split_time

NONE = np.empty((0, 0))  #: the covariates of series that have none


def as_table(value: Any, function: str, names: Sequence[str] | None = None) -> tuple[np.ndarray, list[str]]:
    """Rows in time order and what their columns are called, from a DataFrame, an array or the path of a CSV file. A
    DataFrame may have other columns beside those of `names`; an array has these alone.

    >>> as_table([0.5, 1.5], "f")[1]
    ['u_1']
    """
    if isinstance(value, (str, os.PathLike)):
        import pandas

        value = pandas.read_csv(value)
    table, _ = split_time(value, function)
    columns = names_of(table)
    if columns is not None and names is not None:
        missing = [name for name in names if name not in columns]
        if missing:
            raise ValueError(f"{function}: covariates has no column {missing[0]!r}, but must have {', '.join(names)}")
        table = table[list(names)]
    rows = as_rows(table, function, "covariates", None if names is None else len(names))
    return rows, list(names or columns or [f"u_{i + 1}" for i in range(rows.shape[1])])


def as_tables(value: Any, function: str, names: Sequence[str] | None = None) -> tuple[list[np.ndarray], list[str]]:
    """One table or a list of them, which must have the same columns."""
    several = isinstance(value, (list, tuple)) and len(value) > 0
    several = several and (isinstance(value[0], (str, os.PathLike)) or np.ndim(value[0]) == 2)
    tables = []
    for one in value if several else [value]:
        rows, names = as_table(one, function, names)
        tables.append(rows)
    return tables, list(names or [])


def split_covariates(x: Any, states: Sequence[str], names: Sequence[str], given: Any, function: str) -> tuple[Any, np.ndarray]:
    """A series without its covariates, and them: columns of a DataFrame by their names, or what was given beside x.
    Without names there are none, and none may be given."""
    columns = names_of(x)
    if not names:
        if given is not None:
            raise TypeError(f"{function}: covariates are given, but must be left out: the transitions take none")
        return x, NONE
    if given is not None:
        return x, as_table(given, function, names)[0]
    if columns is None:
        raise TypeError(
            f"{function}: the covariates ({', '.join(names)}) are missing, but must be columns of x, a DataFrame, or given"
            " as covariates=, a row for each row of x"
        )
    for name in [*states, *names]:
        if name not in columns:
            kind = "state" if name in states else "covariate"
            raise ValueError(f"{function}: x has no column {name!r}, but must have it: it is a {kind} of the model")
    for name in columns:
        if name not in states and name not in names:
            raise ValueError(
                f"{function}: the column {name!r} of x is unknown, but must be a state ({', '.join(states)}) or a covariate"
                f" ({', '.join(names)}): leave it out"
            )
    return x[list(states)], as_rows(x[list(names)], function, "covariates", len(names))


def of_rows(covariates: np.ndarray, rows: int, function: str) -> np.ndarray:
    """The same, if there is one for each row of the series."""
    if covariates.shape[1] > 0 and len(covariates) != rows:
        raise ValueError(f"{function}: covariates has {len(covariates)} rows, but must have {rows}, one for each row of x")
    return covariates
