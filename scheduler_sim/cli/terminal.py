"""What a person sees: tables on stdout; progress, notes and errors on stderr."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from shutil import get_terminal_size
from threading import Event, Lock, Thread, current_thread, main_thread
from time import monotonic
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from tqdm import tqdm

PATIENCE_S = 2.0
"""How long a step may take before its progress is shown."""

STDERR = 2
"""The last number of a standard stream."""

BETWEEN_S = 0.1
"""How long a drawn bar stands at least."""

SECOND = 1.0

WIDEST = 100
"""Columns that a line of progress takes at most."""

LOOKS = "{desc} {bar} {elapsed}{postfix}"
"""A line of progress, in the words of tqdm."""

STOPS = signal.SIGINT, signal.SIGTERM
"""The signals that end a command by an exception, wherever the main thread is."""

BARS = "█", "#"
"""A full cell of a bar chart, and the one for terminals that cannot show it."""


def open_streams() -> None:
    """Let what is printed go nowhere where a standard stream is closed.

    Otherwise the next file that is opened would take its place, and what is printed would be written there.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= STDERR:
        pass
    os.close(number)
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: SIM115


def show(text: str, *, quiet: bool = False) -> None:
    """Print what the command was asked for, as long as anybody reads it."""
    if not quiet:
        with _while_read():
            print(text)


def note(text: str, *, quiet: bool = False) -> None:
    """Print something worth knowing beside the result, where it can be printed."""
    if not quiet:
        with _while_read():
            sys.stdout.flush()
        with suppress(OSError):
            print(text, file=sys.stderr, flush=True)


def print_no_more() -> None:
    """Let what is still to be printed go nowhere: Python would fail over it once more at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


@contextmanager
def _while_read() -> Iterator[None]:
    """Whoever reads our output may have seen enough: the work goes on, and is whole."""
    try:
        yield
    except BrokenPipeError:
        print_no_more()


def red(text: str) -> str:
    """Return a text in red, where it is for a terminal; NO_COLOR keeps it plain."""
    if not text or not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return text
    return f"\x1b[31m{text}\x1b[0m"


class Step:
    """One part of a command that may take long; call it with how far it has come.

    It appears once it has taken longer than two seconds. A thread sees to that where nobody calls;
    where the compiled core is at work, other threads hardly get a turn, so the caller does it.
    """

    def __init__(self, title: str, *, shown: bool) -> None:
        self.title = title
        self._shown = shown
        self._begin = self._drawn = monotonic()
        self._done: tuple[int, int | None] = 0, None
        self._bar: tqdm[NoReturn] | None = None
        self._lock = Lock()
        self._over = Event()
        if shown:
            Thread(target=self._watch, daemon=True).start()

    @property
    def progress(self) -> Step | None:
        """What is to be told how far it is: itself; None where nobody looks, as to count takes time."""
        return self if self._shown else None

    def __call__(self, done: int, total: int) -> None:
        """Tell that ``done`` of ``total`` components are through."""
        self._done = done, total
        now = monotonic()
        if self._shown and now - self._begin >= PATIENCE_S and now - self._drawn >= BETWEEN_S:
            self._draw()

    def _watch(self) -> None:
        wait = PATIENCE_S
        while not self._over.wait(wait):
            self._draw()
            wait = SECOND

    def _draw(self) -> None:
        with _drawn_whole(), self._lock:
            if self._over.is_set():
                return
            if self._bar is None:
                self._bar = self._empty_bar()
            self._drawn = monotonic()
            self._bar.n, self._bar.total = self._done
            self._bar.ncols = min(get_terminal_size().columns - 1, WIDEST)
            self._bar.set_postfix_str(self._count(*self._done), refresh=False)
            self._bar.refresh()

    def _empty_bar(self) -> tqdm[NoReturn]:
        from tqdm import tqdm

        tqdm.monitor_interval = 0  # bars are drawn here alone: no thread that watches, no lock for processes
        tqdm.set_lock(Lock())
        bar: tqdm[NoReturn] = tqdm(desc=self.title, bar_format=LOOKS, leave=False, nrows=2, delay=1)
        bar.start_t -= monotonic() - self._begin
        return bar

    def _count(self, done: int, total: int | None) -> str:
        """Say how far it is, and how long the rest takes at the same pace."""
        if total is None:
            return ""
        left = round((monotonic() - self._begin) * (total - done) / done) if done else None
        clock = "" if left is None else f", {left // 60}:{left % 60:02} left"
        return f"{done:,} of {total:,}{clock}"

    def end(self) -> None:
        """Take it off the terminal."""
        with _drawn_whole(), self._lock:
            self._over.set()
            if self._bar is not None:
                self._bar.close()


@contextmanager
def _drawn_whole() -> Iterator[None]:
    """Have Ctrl-C wait until the bar is drawn: cut short, it would swallow what is said on stderr later."""
    if current_thread() is not main_thread():  # which alone is interrupted
        yield
        return
    asked: list[int] = []
    before = {each: signal.signal(each, lambda number, _: asked.append(number)) for each in STOPS}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
        for number in asked[:1]:
            signal.raise_signal(number)


@contextmanager
def step(title: str, *, quiet: bool = False) -> Iterator[Step]:
    """Show a step's progress while it lasts, on a terminal only."""
    shown = Step(title, shown=not quiet and sys.stderr.isatty())
    try:
        yield shown
    finally:
        shown.end()


def table(rows: Sequence[Sequence[str]], *, left: int = 1, indent: str = "  ") -> str:
    """Return rows as aligned columns, the first row being the header.

    The first ``left`` columns are aligned to the left, the others to the right.
    """
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if i < left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append((indent + "  ".join(cells)).rstrip())
    return "\n".join(lines)


def bar(share: float, width: int) -> str:
    """Return a bar of ``share`` of ``width`` cells, at least one cell if there is anything at all."""
    cells = min(width, round(share * width))
    return _cell() * (max(cells, 1) if share > 0 else 0)


def _cell() -> str:
    try:
        BARS[0].encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return BARS[1]
    return BARS[0]
