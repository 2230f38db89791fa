"""Writing a trace file: whole or not at all, gzip without time or name, comments in their places."""

from __future__ import annotations

import gzip
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from scheduler_sim.errors import InputError, TraceError
from scheduler_sim.workload.columns import texts_of

_ROWS_A_BLOCK = 1 << 15


def refuse_directory(path: Path) -> None:
    """Raise InputError where a file is to be written and a directory stands."""
    if path.is_dir():
        raise InputError(f"{path}: this is a directory, a file is to be written here")


@contextmanager
def whole_file(path: str | Path) -> Iterator[BinaryIO]:
    """Open a file for writing under a temporary name beside it; rename it if nothing went wrong.

    A name ending in ``.gz`` is compressed, always to the same bytes.
    """
    target = Path(path)
    refuse_directory(target)
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name[:100]}.", dir=target.parent)
    except OSError as error:
        raise InputError(f"{target}: cannot be written: {error.strerror}") from None
    try:
        with os.fdopen(handle, "wb") as raw:
            if target.suffix == ".gz":
                with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=6) as packed:
                    yield packed  # type: ignore[misc]
            else:
                yield raw
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except OSError as error:
        raise InputError(f"{target}: cannot be written: {error.strerror or error}") from None
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary)


def write_records(
    path: str | Path,
    header: Iterable[str],
    comments: Iterable[tuple[int, str]],
    columns: Sequence[Any],
    join: Callable[[int, Sequence[str]], str],
    encoding: str,
) -> None:
    """Write header lines, records and the comments between them.

    ``join`` makes a line of a row number and its field texts.
    """
    waiting = list(comments)
    rows = len(columns[0])
    with whole_file(path) as out:
        _put(out, header, encoding)
        for start in range(0, rows, _ROWS_A_BLOCK):
            stop = min(start + _ROWS_A_BLOCK, rows)
            fields = zip(*(texts_of(column, start, stop) for column in columns), strict=True)
            lines = [join(row, texts) for row, texts in enumerate(fields, start=start)]
            inside = [(row, line) for row, line in waiting if row < stop]
            del waiting[: len(inside)]
            for row, line in reversed(inside):
                lines.insert(row - start, line)
            _put(out, lines, encoding)
        _put(out, (line for _, line in waiting), encoding)


def encoding_for(wanted: str, texts: Iterable[str], path: str | Path) -> str:
    """Return ``wanted`` if it can express all texts, else utf-8; refuse texts that break lines."""
    texts = list(texts)
    for text in texts:
        if "\n" in text or "\0" in text:
            raise TraceError("a text with a line end or NUL cannot be written", file=path, found=text)
    joined = "".join(texts)
    for encoding in (wanted, "utf-8"):
        with suppress(UnicodeEncodeError):
            joined.encode(encoding)
            return encoding
    raise TraceError("a text that is not Unicode cannot be written", file=path)


def _put(out: BinaryIO, lines: Iterable[str], encoding: str) -> None:
    out.write("".join(f"{line}\n" for line in lines).encode(encoding))


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
