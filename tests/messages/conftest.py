"""Traces written down as tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from scheduler_sim.messages.reading import read_messages
from scheduler_sim.messages.trace import MessageTrace


@pytest.fixture
def table(tmp_path: Path) -> Callable[..., MessageTrace]:
    """A trace from lines ``process kind [peer bytes]`` or ``process compute µs``."""

    def made(*lines: str) -> MessageTrace:
        rows = ["process,kind,peer,bytes,seconds,tag,request"]
        for line in lines:
            process, kind, *rest = line.split()
            request = rest.pop()[1:] if rest and rest[-1].startswith("#") else ""
            tag = rest.pop()[1:] if rest and rest[-1].startswith("t") else ""
            if kind == "compute":
                rows.append(f"{process},{kind},,,{rest[0]}e-6,,")
            else:
                peer, size = [*rest, "", ""][:2]
                rows.append(f"{process},{kind},{peer.replace('|', ' ')},{size},,{tag},{request}")
        path = tmp_path / "trace.csv"
        path.write_text("\n".join(rows) + "\n")
        return read_messages(path)

    return made
