"""The documentation as a site: built without a warning, every page in it, nothing fetched from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from tests.conftest import ROOT

pytest.importorskip("material", reason="needs MkDocs and Material: the extra docs")


@pytest.mark.long
def test_the_site_is_built_without_a_warning(tmp_path):
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--quiet",
        "--site-dir",
        str(tmp_path / "site"),
    ]
    quiet = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    pages = {
        str(path.parent.relative_to(tmp_path / "site")) for path in (tmp_path / "site").rglob("index.html")
    }
    written = {str(path.relative_to(ROOT / "docs").with_suffix("")) for path in (ROOT / "docs").rglob("*.md")}
    studies = {f"analysis/{path.stem}" for path in (ROOT / "analysis").glob("*.md")}
    notebooks = {f"notebooks/{path.stem}" for path in (ROOT / "docs" / "notebooks").glob("*.ipynb")}
    assert written | studies | notebooks | {".", "CONTRIBUTING", "CHANGELOG"} <= pages
    fetched = re.compile(r"""<(?:script|link|img)[^>]+(?:src|href)=["'](https?:[^"']+)""")
    for path in (tmp_path / "site").rglob("*.html"):
        assert [
            url for url in fetched.findall(path.read_text(encoding="utf-8")) if "canonical" not in url
        ] == []
