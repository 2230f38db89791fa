"""What the library warns users of, in the manner of whoever runs it, and from whatever process."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TextIO


@contextmanager
def heard(tell: Callable[[str], object]) -> Iterator[None]:
    """Give each UserWarning within to ``tell``; all other warnings go their way."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        before = warnings.showwarning

        def shown(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if issubclass(category, UserWarning):
                tell(str(message))
            else:
                before(message, category, filename, lineno, file, line)

        warnings.showwarning = shown
        yield


def pass_on(found: Iterable[str], told: set[str]) -> None:
    """Warn of what another process was warned of, each text once: ``told`` are those before."""
    for text in found:
        if text not in told:
            told.add(text)
            warnings.warn(text, UserWarning, stacklevel=2)
