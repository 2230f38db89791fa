"""Reference pages of YAML files, rendered from the models of their keys."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from scheduler_sim.config.keys import Keys, nested, words_for

_MARKS = re.compile(r"(<!-- (\w+): rendered .*? -->\n).*?(<!-- end -->)", re.DOTALL)


def filled(page: str, tables: Mapping[str, Callable[[], str]]) -> str:
    """Return a page with its tables rendered anew, each between its marks."""
    return _MARKS.sub(lambda found: f"{found[1]}\n{tables[found[2]]()}\n\n{found[3]}", page)


def row(cells: Sequence[str]) -> str:
    """Return a row of a table in Markdown."""
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def tables(root: type[Keys]) -> str:
    """Return a table of keys for each mapping in Markdown, the whole file first."""
    sections = dict(_sections(root))
    home = {model: path for path, model in sections.items()}
    parts = []
    for path, model in sections.items():
        title = f"## `{path}`\n\n{model.__doc__}\n" if path else "## The file\n"
        rows = [_row(name, info, model, home) for name, info in model.model_fields.items()]
        parts.append(
            "\n".join([title, "| key | default | allowed | meaning |", "|---|---|---|---|", *rows, ""])
        )
    return "\n".join(parts)


def _sections(root: type[Keys]) -> Iterator[tuple[str, type[Keys]]]:
    """Yield each mapping once, where it stands first, before those inside it."""
    seen: set[type[Keys]] = set()

    def walk(path: str, model: type[Keys]) -> Iterator[tuple[str, type[Keys]]]:
        if model in seen:
            return
        seen.add(model)
        yield path, model
        for name, info in model.model_fields.items():
            inner, mark = nested(info.annotation)
            if inner is not None:
                yield from walk(f"{path}.{name}{mark}".lstrip("."), inner)

    yield from walk("", root)


def _row(name: str, info: FieldInfo, model: type[Keys], home: Mapping[type[Keys], str]) -> str:
    inner, _ = nested(info.annotation)
    allowed = words_for(model, name) if inner is None else f"see `{home[inner]}`"
    return row((f"`{name}`", _default(info), allowed, str(info.description)))


def _default(info: FieldInfo) -> str:
    default: Any = info.default
    if default is PydanticUndefined:
        return "required"
    if default is None or default in ([], {}, "") or isinstance(default, Keys):
        return ""
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, dict):
        return ", ".join(map(str, default))
    if isinstance(default, float):
        return f"{default:g}"
    return str(default)
