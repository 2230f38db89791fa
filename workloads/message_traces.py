"""Make the sample message traces: ``python workloads/message_traces.py [--out FOLDER] [--processes N ...]``.

Without options those in workloads/messages. With ``--processes`` stencils of so many processes, one a trace,
of one
problem that they share (strong scaling).
"""

from __future__ import annotations

import argparse
from pathlib import Path

from scheduler_sim.messages.patterns import stencil, wavefront
from scheduler_sim.messages.reading import write_messages
from scheduler_sim.messages.trace import MessageTrace

HERE = Path(__file__).parent / "messages"


def samples() -> dict[str, MessageTrace]:
    """Return the traces that ship, by the names of their files."""
    return {
        "stencil-8.csv": stencil(8, iterations=4, seconds=0.02, size=80_000, uneven=0.15, noise=0.05),
        "wavefront-12.dim": wavefront(4, 3, size=20_000, seconds=1e-3, sweeps=2),
    }


def main() -> None:
    """Write them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=HERE, metavar="FOLDER")
    parser.add_argument("--processes", type=int, nargs="+", default=[], metavar="N")
    asked = parser.parse_args()
    traces = {f"stencil-{n}.dim": stencil(n) for n in asked.processes} or samples()
    asked.out.mkdir(parents=True, exist_ok=True)
    for name, trace in traces.items():
        write_messages(trace, asked.out / name)


if __name__ == "__main__":
    main()
