"""The reference page on recipes, rendered from the models of their keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from scheduler_sim.config.keys import Keys, nested, words_for
from scheduler_sim.generation.keys import RecipeKeys

_INTRODUCTION = """\
# Recipes

<!-- Rendered from the keys by `python -m scheduler_sim.generation.keys_page`. -->

A recipe is a YAML file that says how a trace is generated; with the seed it determines every byte. The
least that works:

```yaml
modules: [{name: cluster, nodes: 128, jobs: 1000}]
```

A key that is absent, or has no value, has its default. Unknown keys are errors; mistakes are listed together,
each with its line: first those of single keys, then, once each is right by itself, those between keys.
`workloads/` has ready recipes; [how to generate traces](../how-to/generate.md) shows them at work, and
[workload models](models.md) has the laws.
"""


def keys_page() -> str:
    """Return the page: one table for each mapping, the whole file first."""
    parts = [_INTRODUCTION]
    sections = dict(_sections("", RecipeKeys))
    home = {model: path for path, model in sections.items()}
    for path, model in sections.items():
        title = f"## `{path}`\n\n{model.__doc__}\n" if path else "## The file\n"
        rows = [_row(name, info, model, home) for name, info in model.model_fields.items()]
        parts.append(
            "\n".join([title, "| key | default | allowed | meaning |", "|---|---|---|---|", *rows, ""])
        )
    return "\n".join(parts)


def _sections(path: str, model: type[Keys]) -> Iterator[tuple[str, type[Keys]]]:
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

    yield from walk(path, model)


def _row(name: str, info: FieldInfo, model: type[Keys], home: Mapping[type[Keys], str]) -> str:
    inner, _ = nested(info.annotation)
    allowed = words_for(model, name) if inner is None else f"see `{home[inner]}`"
    cells = (f"`{name}`", _default(info), allowed, str(info.description))
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _default(info: FieldInfo) -> str:
    default: Any = info.default
    if default is PydanticUndefined:
        return "required"
    if default is None or default in ([], {}, "") or isinstance(default, Keys):
        return ""
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, dict):
        return ", ".join(str(key) for key in default)
    if isinstance(default, float):
        return f"{default:g}"
    return str(default)


if __name__ == "__main__":
    import sys

    sys.stdout.write(keys_page())
