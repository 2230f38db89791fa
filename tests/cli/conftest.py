from __future__ import annotations

import pytest

from tests.cli.command import Here


@pytest.fixture
def cli(capsys):
    """Call a command in this process: ``cli("run", ...)`` gives code, out and err."""
    return Here(capsys)


@pytest.fixture
def trace(tmp_path):
    """Write a small trace in SWF from (submit, run, nodes, limit) of each job; return its path."""

    def write(*jobs, name="trace.swf"):
        lines = [
            f"{i} {submit} -1 {run} {nodes} -1 -1 {nodes} {limit} -1 1 1 1 1 1 -1 -1 -1\n"
            for i, (submit, run, nodes, limit) in enumerate(jobs, start=1)
        ]
        path = tmp_path / name
        path.write_text("".join(lines))
        return path

    return write


@pytest.fixture
def system(tmp_path):
    """Write a system in YAML; return its path."""

    def write(text="modules: [{name: nodes, nodes: 10}]\n", name="system.yaml"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write
