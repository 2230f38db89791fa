"""Calling the command line, inside this process and as a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

from scheduler_sim.cli.main import main
from tests.conftest import ROOT

CLUSTER = ROOT / "configs" / "systems" / "cluster-128.yaml"
PROTOTYPE = ROOT / "configs" / "systems" / "deep-est-prototype.yaml"
SAMPLE = ROOT / "workloads" / "sample-1000.swf"
MODULAR = ROOT / "workloads" / "sample-modular.mwf"

PATIENCE_S = 600  # the first to come compiles, on a machine that may be busy

RESULT_FILES = {"components.parquet", "timeline.parquet", "metrics.json", "manifest.json", "run.log"}


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


class Here:
    """Calls commands in this process."""

    def __init__(self, capsys: Any) -> None:
        self.capsys = capsys

    def __call__(self, *arguments: object) -> Ended:
        self.capsys.readouterr()
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stop:  # argparse
            code = int(stop.code or 0)
        return Ended(code, *self.capsys.readouterr())


def started(*arguments: object, **settings: Any) -> subprocess.Popen[str]:
    """Start a command as a process of its own."""
    settings.setdefault("stdout", subprocess.PIPE)
    settings.setdefault("stderr", subprocess.PIPE)
    environment = os.environ | {"PYTHONPATH": str(ROOT), **settings.pop("extra", {})}
    settings.setdefault("preexec_fn", _hears_ctrl_c)
    command = [sys.executable, "-m", "scheduler_sim", *map(str, arguments)]
    return subprocess.Popen(command, env=environment, text=True, **settings)


def _hears_ctrl_c() -> None:
    """Undo that a shell's background jobs, and all they start, ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def process(*arguments: object, **settings: Any) -> Ended:
    """Run a command as a process of its own."""
    with started(*arguments, **settings) as running:
        out, err = running.communicate(timeout=PATIENCE_S)
        return Ended(running.returncode, out, err)
