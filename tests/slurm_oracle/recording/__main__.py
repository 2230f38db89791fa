"""Record cases on a real Slurm: ``python -m tests.slurm_oracle.recording CASES FOLDER NAME[@r2] ...``.

As root on a machine with Slurm, on Debian with ``apt install slurmctld slurmd slurmdbd slurm-client
slurm-wlm-basic-plugins slurm-wlm-mysql-plugin munge mariadb-server``. Cases are NAME.json.gz in the folder
CASES; FOLDER gets NAME.out.json.gz, or NAME@r2.out.json.gz of a second recording. All run at once, in real
time: some minutes. A machine that is busy with other things delays starts and ends of jobs by seconds.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from tests.slurm_oracle.recording.cluster import PORTS, Cluster
from tests.slurm_oracle.recording.daemons import database, munge
from tests.slurm_oracle.recording.harvest import harvest
from tests.slurm_oracle.recording.play import play

FIRST_PORT = 20_000
PRIORITY = -12
"""Of all daemons (nice), so that other work on the machine delays them less."""

APART_S = 0.37
"""So much later the next cluster starts: their daemons' clocks have another phase."""


def main(arguments: list[str] | None = None) -> int:
    """Record, and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.slurm_oracle.recording",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("cases", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="+")
    given = parser.parse_args(arguments)
    if os.geteuid() != 0 or shutil.which("slurmctld") is None:
        parser.error("found no Slurm, or another user than root; allowed: root, with slurmctld installed")
    os.nice(PRIORITY)
    given.folder.mkdir(parents=True, exist_ok=True)
    place = Path(tempfile.mkdtemp(prefix="recording-"))
    place.chmod(0o755)
    with ExitStack() as beside:
        beside.callback(shutil.rmtree, place, ignore_errors=True)
        beside.enter_context(munge())
        clusters = [_cluster(given.cases, place, name, i) for i, name in enumerate(given.names)]
        if any(cluster.case.get("accounting") for cluster in clusters):
            beside.enter_context(database(place / "database"))
        _record(clusters, given.folder)
    return 0


def _cluster(cases: Path, place: Path, name: str, number: int) -> Cluster:
    with gzip.open(cases / f"{name.split('@')[0]}.json.gz", "rt") as file:
        case = json.load(file)
    return Cluster(name, case, place / name, FIRST_PORT + PORTS * number)


def _record(clusters: list[Cluster], folder: Path) -> None:
    """Start the nodes of all, then play all, and write what each did."""
    for cluster in clusters:
        cluster.write()
        if cluster.case.get("accounting"):
            cluster.enter_accounts()
        cluster.start_nodes()

    def one(number: int) -> None:
        cluster = clusters[number]
        time.sleep(APART_S * number)
        try:
            found = harvest(cluster, play(cluster))
            with gzip.open(folder / f"{cluster.name}.out.json.gz", "wt") as file:
                json.dump(found, file)
            print(f"{cluster.name}: {len(found['jobs'])} jobs", flush=True)
        finally:
            cluster.stop()

    with ThreadPoolExecutor(len(clusters)) as pool:
        list(pool.map(one, range(len(clusters))))


if __name__ == "__main__":
    sys.exit(main())
