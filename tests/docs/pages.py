"""The examples of a page of documentation, and how they are run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import ROOT

PAGES = sorted(
    [ROOT / "README.md", *(page for page in (ROOT / "docs").rglob("*.md") if "images" not in page.parts)]
)
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CHANGES = re.compile(r"> scheduler_sim/|sed -i .* scheduler_sim/", re.DOTALL)
MARK = "--- end of example ---"


@dataclass(frozen=True)
class Example:
    """A fenced block that is run, and the lines that the page says it prints."""

    language: str
    code: str
    prints: tuple[str, ...]


def examples(page: Path) -> list[Example]:
    """Return the bash and python blocks of a page; a text block right after one is what it prints."""
    blocks = [(match[1], match[2]) for match in FENCE.finditer(page.read_text(encoding="utf-8"))]
    found = []
    for i, (language, code) in enumerate(blocks):
        if language not in ("bash", "python"):
            continue
        follows = blocks[i + 1] if i + 1 < len(blocks) else ("", "")
        lines = follows[1].splitlines() if follows[0] == "text" else []
        found.append(Example(language, code, tuple(line.rstrip() for line in lines if line.strip())))
    return found


def run_examples(found: list[Example], directory: Path) -> list[str]:
    """Run the examples of a page one after the other in one shell; return what each printed.

    A page that changes the package changes a copy of it.
    """
    for name in ("configs", "workloads", "docs"):
        (directory / name).symlink_to(ROOT / name)
    package = ROOT
    if any(CHANGES.search(example.code) for example in found):
        package = directory
        left_out = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "scheduler_sim", directory / "scheduler_sim", ignore=left_out)
    programs = directory / "bin"
    programs.mkdir()
    for name, command in (("python", ""), ("scheduler-sim", "-m scheduler_sim")):
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {command} "$@"\n')
        program.chmod(0o755)
    steps = []
    for example in found:
        code = example.code if example.language == "bash" else f"python - <<'PYTHON'\n{example.code}PYTHON\n"
        steps.append(f"{code}echo '{MARK}'\n")
    paths = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(package)}
    done = subprocess.run(
        ["bash", "-e", "-c", "".join(steps)],
        cwd=directory,
        env=os.environ | paths,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.split(f"{MARK}\n")[:-1]
