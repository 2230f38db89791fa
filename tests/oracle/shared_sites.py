"""The sites of shared nodes that come with answer keys, and the keys."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

from tests.conftest import SHARED
from tests.oracle.plain_shared_records import Node, Request
from tests.oracle.records import Component

FOLDER = SHARED / "data" / "shared_nodes"
TINY = [f"tiny{number}" for number in range(10, 30)]
LARGE = ["lakeside", "hive", "foundry"]
SCHEMES = {
    "fcfs": {"backfill": "none"},
    "first_fit": {"backfill": "first_fit"},
    "easy": {"backfill": "easy"},
    "conservative": {"backfill": "conservative"},
}
KEYS = [*((scheme, "best_fit") for scheme in SCHEMES), ("easy", "first_fit"), ("easy", "worst_fit")]
"""The policies and packings of which there is a key for each site."""


def rows(path: Path) -> list[dict[str, str]]:
    packed = path.with_name(path.name + ".gz")
    text = gzip.decompress(packed.read_bytes()) if packed.exists() else path.read_bytes()
    return list(csv.DictReader(text.decode("utf-8").splitlines()))


def site(name: str) -> tuple[list[Node], list[Component]]:
    """Return the nodes and the jobs of a site; a job's row is its place in the file."""
    nodes = [
        Node(
            row["name"],
            int(row["cores"]),
            int(row["memory_mb"]),
            int(row["gpus"]),
            tuple(row["partitions"].split(";")),
        )
        for row in rows(FOLDER / f"{name}.nodes.csv")
    ]
    jobs = [
        Component(number, int(row["submit"]), (request(row),))
        for number, row in enumerate(rows(FOLDER / f"{name}.jobs.csv"))
    ]
    return nodes, jobs


def request(row: dict[str, str]) -> Request:
    return Request(
        "m",
        int(row["nodes"]),
        int(row["run"]),
        int(row["limit"]),
        partition=row["partition"],
        cores=int(row["cores"]),
        memory=int(row["memory_mb"]),
        gpus=int(row["gpus"]),
        exclusive=row["exclusive"] == "1",
    )


def answer_key(name: str, scheme: str, packing: str) -> list[int]:
    """Return the start of every job, in the order of the file of jobs; -1 for those that are REJECTED."""
    starts = {row["id"]: int(row["start"]) for row in rows(FOLDER / f"{name}.{scheme}.{packing}.csv")}
    return [starts[row["id"]] for row in rows(FOLDER / f"{name}.jobs.csv")]
