"""The notebooks of the documentation: how they are run, and what of their outputs is kept.

``python -m tests.docs.notebooks [NAME ...]`` runs them, all or those named, and keeps what they print.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from nbclient import NotebookClient

from tests.conftest import ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
SAID = ("text/plain", "text/html")
"""What of an output is compared; a picture is kept, and that there is one."""


def run(path: Path, directory: Path) -> Any:
    """Run a notebook in a folder that looks like the checkout; return it with its outputs alone."""
    place = directory / "docs" / "notebooks"
    place.mkdir(parents=True)
    for name in ("configs", "workloads"):
        (directory / name).symlink_to(ROOT / name)
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(place)}}
    NotebookClient(notebook, timeout=300, resources=resources).execute()
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for number, cell in enumerate(notebook.cells):
        cell.id, cell.metadata = f"cell-{number}", {}
    return notebook


def told(notebook: Any) -> list[list[tuple[str, str]]]:
    """Return what each cell says: kind and text of its outputs, of a picture the kind alone."""
    return [[said for output in cell.get("outputs", ()) for said in _told(output)] for cell in notebook.cells]


def _told(output: Any) -> list[tuple[str, str]]:
    if output.output_type == "stream":
        return [(output.name, output.text)]
    if output.output_type == "error":
        return [("error", output.evalue)]
    return [(kind, text if kind in SAID else "") for kind, text in sorted(output.data.items())]


def main(names: list[str]) -> None:
    """Run notebooks and write them with their outputs."""
    for path in NOTEBOOKS:
        if not names or path.stem in names:
            with TemporaryDirectory() as directory:
                nbformat.write(run(path, Path(directory)), path)
            print(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
