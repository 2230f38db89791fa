"""The command ``scheduler-sim``: what it understands, and how it ends.

Exit code 0 on success, 2 on bad input, 1 on failure, 130 on Ctrl-C. Nothing heavy is
imported before a command is known, so that ``--help`` and ``--version`` are instant.
"""

from __future__ import annotations

import argparse
import errno
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, NoReturn, TextIO

from scheduler_sim import __version__
from scheduler_sim.cli import (
    benchmarks,
    compare,
    completion,
    convert,
    explain,
    fit,
    generate,
    inspect,
    predict,
    predict_runtime,
    prepare,
    replay_messages,
    report,
    run,
    sample,
    schema,
    study,
)
from scheduler_sim.cli.terminal import note, open_streams, print_no_more
from scheduler_sim.errors import SchedulerSimError
from scheduler_sim.output.failure import cannot_write
from scheduler_sim.remarks import heard

DEBUG = "SCHEDULER_SIM_DEBUG"
"""Environment variable: if set, errors come with their traceback."""

FAILURE, BAD_INPUT, INTERRUPTED, TERMINATED = 1, 2, 130, 143

NO_NAME = (errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR)
"""What the system says of a name that nothing can have: bad input, as an unknown file is."""

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What it says of a full disk."""

TOO_LARGE = "is too large for the memory of this machine; nothing was written"

COMMANDS = (
    run,
    study,
    report,
    generate,
    fit,
    convert,
    inspect,
    explain,
    compare,
    predict,
    predict_runtime,
    replay_messages,
    benchmarks,
    prepare,
    sample,
    schema,
    completion,
)

EXAMPLES = """\
examples:
  scheduler-sim inspect workloads/sample-1000.swf
  scheduler-sim run configs/systems/cluster-128.yaml workloads/sample-1000.swf --policy easy --out result
  scheduler-sim explain result 42
  scheduler-sim generate workloads/deep-est-workflows-24.yaml --out trace.mwf

Every command has its own --help. Exit codes: 0 success, 2 bad input, 1 failure, 130 Ctrl-C.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code."""
    open_streams()
    for stream in (sys.stdout, sys.stderr):
        _print_anything(stream)
    arguments = list(sys.argv[1:] if argv is None else argv)
    if (
        not arguments and completion.ASKED not in os.environ
    ):  # a script that lost its arguments should notice, too
        parser().print_help(sys.stderr)
        return BAD_INPUT
    try:
        parsed = _parsed(list(_one_setting_each(arguments)))
        with _clean_end_on_sigterm(), heard(partial(_remark, quiet=getattr(parsed, "quiet", False))):
            parsed.execute(parsed)
        sys.stdout.flush()
    except SchedulerSimError as error:
        return _ended(error, str(error), error.exit_code)
    except KeyboardInterrupt as stop:
        kept = str(stop) or "nothing was written"
        return _ended(stop, f"interrupted: {kept}", INTERRUPTED)
    except BrokenPipeError:
        print_no_more()  # whoever read our output has seen enough
    except MemoryError as error:
        return _ended(error, f"the input {TOO_LARGE}", BAD_INPUT)
    except OSError as error:
        if error.filename is None and error.errno in NO_ROOM:
            print_no_more()
        return _ended(error, _told(error), BAD_INPUT if error.errno in NO_NAME else FAILURE)
    except Exception as error:
        told = f"internal error, please report it: {type(error).__name__}: {error}"
        return _ended(error, f"{told} (set {DEBUG}=1 for the traceback)", FAILURE)
    return 0


def parser() -> argparse.ArgumentParser:
    """Build the parser of all commands."""
    whole = argparse.ArgumentParser(
        prog="scheduler-sim",
        description="A fast Slurm-like simulator for modular and homogeneous supercomputers.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    whole.add_argument("--version", action="version", version=f"scheduler-sim {__version__}")
    commands = whole.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add_to(commands)
    return whole


def _parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse them; a TRACE that may be left out may stand behind options, too."""
    whole = parser()
    completion.answer_shell(whole)
    parsed, left = whole.parse_known_args(arguments)
    if len(left) == 1 and not left[0].startswith("-") and getattr(parsed, "trace", "") is None:
        parsed.trace = left[0]
    elif left:
        whole.error(f"unrecognized arguments: {' '.join(left)}")
    return parsed


def _one_setting_each(arguments: Sequence[str]) -> Iterator[str]:
    """Write ``--set A=1 B=2`` as ``--set A=1 --set B=2``, so that other arguments may follow."""
    after_set = False
    for i, argument in enumerate(arguments):
        setting = "=" in argument and not argument.startswith("-")
        if after_set and setting and arguments[i - 1] != "--set":
            yield "--set"
        after_set = argument == "--set" or (after_set and setting)
        yield argument


def _ended(error: BaseException, message: str, code: int) -> int:
    """Say on stderr why it ended; never fail over that."""
    with suppress(OSError, ValueError):
        if os.environ.get(DEBUG) and not isinstance(error, KeyboardInterrupt):
            import traceback

            traceback.print_exception(error)
        shown = "".join(sign if sign.isprintable() or sign == "\n" else "?" for sign in message)
        print(f"scheduler-sim: {shown}", file=sys.stderr, flush=True)
    return code


def _remark(text: str, *, quiet: bool) -> None:
    note(f"note: {text}", quiet=quiet)


def _told(error: OSError) -> str:
    """Say what could not be read or written, of a full disk which one; what has no name is what we print."""
    if error.errno in NO_ROOM:
        what, place = error.filename or "what is printed", error.filename or os.path.realpath("/dev/stdout")
        return str(cannot_write(what, error, place))
    return f"{error.filename}: {error.strerror or error}" if error.filename else str(error.strerror or error)


@contextmanager
def _clean_end_on_sigterm() -> Iterator[None]:
    """End on SIGTERM, as batch systems send it, by the way that cleans up."""

    def end(*_: Any) -> NoReturn:
        sys.exit(TERMINATED)

    try:
        before = signal.signal(signal.SIGTERM, end)
    except ValueError:  # not in the main thread: whoever called us sees to signals
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _print_anything(stream: TextIO) -> None:
    """Never fail over a sign that the terminal cannot show."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")
