"""The notebooks run, and say what is kept in them; every page of them is useful by itself."""

from __future__ import annotations

import re

import pytest

nbformat = pytest.importorskip("nbformat", reason="needs nbformat: the extra dev")
pytest.importorskip("nbclient", reason="needs nbclient: the extra dev")
pytest.importorskip("ipykernel", reason="needs ipykernel: the extra dev")

from tests.conftest import ROOT  # noqa: E402
from tests.docs.notebooks import NOTEBOOKS, run, told  # noqa: E402

OF_A_MACHINE = re.compile(r"/home/|/tmp/|/usr/|0x[0-9a-f]{6}|\d\d:\d\d:\d\d\.\d|Warning")
LINK = re.compile(r"\]\(([^)\s#]+)")


def kept(path):
    return nbformat.read(path, as_version=4)


@pytest.mark.long
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_says_what_is_kept(path, tmp_path):
    assert told(run(path, tmp_path)) == told(kept(path)), f"run: python -m tests.docs.notebooks {path.stem}"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_is_kept_has_a_table_and_a_picture_and_nothing_of_a_machine(path):
    notebook = kept(path)
    said = [output for cell in told(notebook) for output in cell]
    kinds = {kind for kind, _ in said}
    assert {"text/html", "image/png"} <= kinds
    assert not kinds & {"error", "stderr"}
    assert [text for _, text in said if OF_A_MACHINE.search(text)] == []
    assert all(cell.outputs or i == 0 for i, cell in enumerate(notebook.cells) if cell.cell_type == "code")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_links_of_a_notebook_lead_somewhere(path):
    texts = [cell.source for cell in kept(path).cells if cell.cell_type == "markdown"]
    links = [target for text in texts for target in LINK.findall(text)]
    assert links
    assert [target for target in links if "://" not in target and not (path.parent / target).exists()] == []


def test_there_are_four_and_the_site_has_them():
    names = {path.stem for path in NOTEBOOKS}
    assert names == {"first_study", "modular_machine", "replay_a_site", "own_scheduler"}
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert all(f"notebooks/{name}.md" in navigation for name in names)
