"""For the site: pages that stand outside ``docs`` join it, and links lead to where they then are.

MkDocs calls the functions by their names; ``make docs`` runs it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
ELSEWHERE = {"README.md": "index.md", "CONTRIBUTING.md": "CONTRIBUTING.md", "CHANGELOG.md": "CHANGELOG.md"}
"""Pages of the top level, and what they are called in the site."""

LINK = re.compile(r"(!?\[[^\]]*\])\(([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Add the studies with their pictures, and the pages of the top level."""
    studies = [*(ROOT / "analysis").glob("*.md"), *(ROOT / "analysis").rglob("*.png")]
    sources = {path: str(path.relative_to(ROOT)) for path in studies}
    sources |= {ROOT / name: place for name, place in ELSEWHERE.items()}
    for path, place in sources.items():
        files.append(File.generated(config, place, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Rewrite links that leave the site, or enter it from outside of ``docs``; code is named, not linked."""
    here = Path(page.file.src_uri).parent
    source = Path(page.file.abs_src_path or ROOT / "docs" / here / "made").parent

    def rewritten(found: re.Match[str]) -> str:
        label, target, anchor = found[1], found[2], found[3] or ""
        if "://" in target or target.startswith("mailto:"):
            return found[0]
        path = (source / target).resolve()
        place = _place(path)
        if place is None or files.get_file_from_path(place) is None:
            return label[1:-1] if label.startswith("[") else found[0]
        return f"{label}({_relative(place, here)}{anchor})"

    return LINK.sub(rewritten, markdown)


def _place(path: Path) -> str | None:
    """Return where a file stands in the site, None if it does not."""
    if not path.is_relative_to(ROOT):
        return None
    inside = path.relative_to(ROOT)
    if str(inside) in ELSEWHERE:
        return ELSEWHERE[str(inside)]
    if inside.suffix == ".ipynb":
        inside = inside.with_suffix(".md")
    return str(inside.relative_to("docs") if inside.parts[0] == "docs" else inside)


def _relative(place: str, here: Path) -> str:
    up = [".."] * len(here.parts)
    return "/".join([*up, place])
