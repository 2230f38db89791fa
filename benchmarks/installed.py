"""What an installation takes on disk, package by package: ``python -m benchmarks.installed``.

python -m benchmarks.installed --python BASE/bin/python                               of that environment
python -m benchmarks.installed --python BASE/bin/python --page docs/installation.md   the same, into its place
"""

from __future__ import annotations

import argparse
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path

from benchmarks.place import Place

PLACE = Place("installed", "end installed", "table")
SMALLEST_MB = 5
"""What is smaller shares a row."""

HEAD = "| package | MB | of these bytecode | of these its tests |\n|---|--:|--:|--:|"


@dataclass(frozen=True)
class Size:
    """What a package takes, in bytes of blocks on disk.

    Attributes
    ----------
    whole : all its files; bytecode : Python's own, of its modules.
    tests : its own, with their bytecode, which is not in ``bytecode``.
    """

    whole: int = 0
    bytecode: int = 0
    tests: int = 0

    def __add__(self, other: Size) -> Size:
        return Size(self.whole + other.whole, self.bytecode + other.bytecode, self.tests + other.tests)


def sizes(python: str) -> dict[str, Size]:
    """Return the size of each package in the environment of an interpreter, pip and the like left out."""
    asked = "import sysconfig; print(sysconfig.get_path('purelib'))"
    folder = subprocess.run([python, "-c", asked], capture_output=True, text=True, check=True).stdout.strip()
    found = {one.metadata["Name"].lower(): _size(one) for one in distributions(path=[folder])}
    return {name: size for name, size in found.items() if name not in ("pip", "setuptools", "wheel")}


def _size(of: Distribution) -> Size:
    total: Counter[str] = Counter()
    for file in of.files or ():
        path = Path(str(file.locate()))
        if path.is_file() and not path.is_symlink():
            part = "tests" if "tests" in file.parts else "bytecode" if path.suffix == ".pyc" else ""
            total[part] += path.stat().st_blocks * 512
    return Size(total.total(), total["bytecode"], total["tests"])


def table(found: dict[str, Size]) -> str:
    """Return the table: whole MB, and below them their sums."""
    large = {name: size for name, size in found.items() if size.whole >= SMALLEST_MB * 1e6}
    rows = dict(sorted(large.items(), key=lambda row: -row[1].whole))
    small = sorted(set(found) - set(large))
    rows[f"{len(small)} more: {', '.join(small)}"] = sum((found[name] for name in small), Size())
    cells = {name: _megabytes(size) for name, size in rows.items()}
    cells["**all**"] = tuple(sum(column) for column in zip(*cells.values(), strict=True))
    return "\n".join([HEAD, *_lines(cells)])


def _megabytes(size: Size) -> tuple[int, ...]:
    return tuple(round(part / 1e6) for part in (size.whole, size.bytecode, size.tests))


def _lines(cells: dict[str, tuple[int, ...]]) -> Iterator[str]:
    for name, numbers in cells.items():
        yield f"| {name} | " + " | ".join(f"{number:,}" if number else "" for number in numbers) + " |"


def main(arguments: list[str] | None = None) -> None:
    """Measure an environment, and fill the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.installed",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--python", required=True, help="interpreter of the environment to be measured")
    parser.add_argument("--page", help="page whose table is filled; default: it is printed")
    given = parser.parse_args(arguments)
    PLACE.require(given.page)
    PLACE.write(given.page, table(sizes(given.python)))


if __name__ == "__main__":
    main()
