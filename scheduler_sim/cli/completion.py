"""``scheduler-sim completion``: what a shell needs to complete commands, options and names."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator

from scheduler_sim.cli.terminal import show

SHELLS = ("bash", "zsh", "fish")
ASKED = "_ARGCOMPLETE"
"""Environment variable by which a shell asks what may follow."""

EXAMPLES = """\
examples:
  eval "$(scheduler-sim completion bash)"       # in this shell; put it into ~/.bashrc for all
  eval "$(scheduler-sim completion zsh)"        # likewise, ~/.zshrc
  scheduler-sim completion fish > ~/.config/fish/completions/scheduler-sim.fish
"""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add this command to the parser."""
    parser = commands.add_parser(
        "completion",
        help="print the completion script of a shell",
        description="Print a script with which a shell completes commands, options, files and names.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help=", ".join(SHELLS))
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> None:
    """Print the script of a shell."""
    from argcomplete.shell_integration import shellcode

    show(shellcode(["scheduler-sim"], shell=args.shell).strip("\n"))


def answer_shell(parser: argparse.ArgumentParser) -> None:
    """Tell a shell what may follow, and end, if it is one that asks."""
    if ASKED not in os.environ:
        return
    import argcomplete

    for action in _actions(parser):
        if "--policy" in action.option_strings:
            action.completer = _policies  # type: ignore[attr-defined]
    argcomplete.autocomplete(parser)
    sys.exit(0)


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield the arguments of a parser and of all commands below it."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from _actions(below)


def _policies(prefix: str, **_: object) -> list[str]:
    """Return the names of policies, and files."""
    from argcomplete.completers import FilesCompleter

    from scheduler_sim.policy.policy import ORDERS, PRESETS

    return [*PRESETS, *ORDERS, *FilesCompleter(("yaml", "yml", "py"))(prefix)]
