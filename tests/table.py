"""One test for all rows of a table, which names the rows that fail.

Thousands of collected tests take seconds before the first one runs, so a plain call with values belongs into a `table`. A test that
needs files, an environment or an output of its own for each row is parametrized.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import pytest

ONLY = os.environ.get("ROW", "")
"""`ROW=text pytest FILE` runs only the rows whose names contain the text."""


def table(
    names: str | tuple[str, ...], rows: Iterable[Any], *, ids: Callable[[Any], object] | Iterable[object] = repr
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test for every row, also after one has failed.

    Args: names, rows: as `pytest.mark.parametrize` takes them; ids: the names of rows, or what gives a row its name.
    """
    columns = tuple(each.strip() for each in names.split(",")) if isinstance(names, str) else names
    kept = list(rows)
    called = [str(ids(row)) for row in kept] if callable(ids) else [*map(str, ids)]
    assert kept, "a table without rows tests nothing"
    assert len(called) == len(kept)

    def decorated(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def of_all_rows(**fixtures: Any) -> None:
            failures: list[BaseException] = []
            for name, row in zip(called, kept, strict=True):
                values = (row,) if len(columns) == 1 else row
                try:
                    if ONLY in name:
                        test(**fixtures, **dict(zip(columns, values, strict=True)))
                except pytest.skip.Exception as skipped:
                    failures.append(AssertionError(f"the row {name} skips itself: {skipped}"))
                except (Exception, pytest.fail.Exception) as failure:
                    failure.add_note(f"in the row {name}")
                    failures.append(failure)
            if len(failures) == 1:
                raise failures[0]
            if failures:
                raise BaseExceptionGroup(f"{len(failures)} of {len(kept)} rows", failures)

        signature = inspect.signature(test)
        assert signature.parameters.keys() >= set(columns), "a column without a parameter"
        fixtures = [parameter for name, parameter in signature.parameters.items() if name not in columns]
        of_all_rows.__signature__ = signature.replace(parameters=fixtures)  # type: ignore[attr-defined]
        return of_all_rows

    return decorated
