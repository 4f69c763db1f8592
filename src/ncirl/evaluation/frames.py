"""Data frames, for those who have pandas."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from ncirl.errors import InputError

__all__ = ["data_frame"]


def data_frame(rows: Sequence[Mapping[str, object]], columns: Sequence[str] = ()) -> Any:
    """Return rows as a pandas DataFrame; `InputError` when pandas is not installed.

    Examples
    --------
    >>> data_frame([{"n": 6, "value": 0.5}])
       n  value
    0  6    0.5
    """
    try:
        pandas = import_module("pandas")
    except ImportError:
        raise InputError("data frames need pandas; install it by `pip install 'ncirl[tables]'`") from None
    return pandas.DataFrame(list(rows), columns=list(columns) or None)
