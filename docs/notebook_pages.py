"""For the site: the notebooks as pages, from the outputs that are kept in them.

MkDocs calls ``on_files`` by its name, before that of ``site_pages``.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

NOTEBOOKS = Path(__file__).parent / "notebooks"
STYLE = re.compile(r"<style scoped>.*?</style>\n?| border=\"1\" class=\"dataframe\"", re.DOTALL)
"""What pandas puts into tables, where the site has its own look, and has wide ones scroll."""


def on_files(files: Files, config: Any) -> Files:
    """Add a page for each notebook, and its pictures beside it."""
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        pictures: dict[str, bytes] = {}
        text = "\n\n".join(_cells(path, pictures))
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=text))
        for name, content in pictures.items():
            files.append(File.generated(config, f"notebooks/{name}", content=content))
    return files


def _cells(path: Path, pictures: dict[str, bytes]) -> Iterator[str]:
    """Return the cells of a notebook as Markdown; its pictures go to ``pictures``, by name."""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            yield source
            continue
        yield f"```python\n{source}\n```"
        for output in cell["outputs"]:
            yield _output(output, path.stem, pictures)
    yield f'<a href="../{path.name}" download>Download this notebook</a>'


def _output(output: dict[str, Any], notebook: str, pictures: dict[str, bytes]) -> str:
    """Return an output as Markdown: a picture, else a table, else text."""
    data = output.get("data", {})
    if "image/png" in data:
        name = f"{notebook}-{len(pictures) + 1}.png"
        pictures[name] = b64decode("".join(data["image/png"]))
        return f"![What the cell above draws]({name})"
    if "text/html" in data:
        return STYLE.sub("", "".join(data["text/html"]))
    text = "".join(data.get("text/plain", output.get("text", "")))
    return f"```text\n{text.rstrip()}\n```"
