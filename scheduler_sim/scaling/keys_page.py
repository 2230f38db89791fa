"""The reference page on profiles of applications and on curves."""

from __future__ import annotations

from pydantic.fields import FieldInfo

from scheduler_sim.config.keys import Keys, nested, words_for
from scheduler_sim.config.page import tables
from scheduler_sim.scaling.curves import KINDS, Curve
from scheduler_sim.scaling.metric_model import MetricKeys
from scheduler_sim.scaling.names import FACTORS
from scheduler_sim.scaling.profile_keys import ModularKeys, ProfileKeys

_INTRODUCTION = """\
# Profiles of applications

<!-- Rendered from the keys by `python -m scheduler_sim.scaling.keys_page`. -->

A profile describes how an application scales; [scaling models](scaling.md) explains the terms. A minimal
profile:

```yaml
version: 1
app: solver
scaling: strong
modules: {CM: 1.0}
speedup: {curve: downey, A: 48, sigma: 0.8}
```

`configs/apps/` has profiles from published numbers. A file with `components` is a
[modular application](#a-modular-application).
"""

_CURVES = """\
## Curves

`{curve: KIND, parameter: value, ...}`. In `efficiency` a curve may say with `counts` what its P is:
`processes` (the default: nodes × ranks per node × threads), `nodes`, `ranks` or `threads`.
"""


def keys_page() -> str:
    """Return the page: the keys of both kinds of file, the factors, and the curves."""
    whole = tables(ProfileKeys)
    modular = tables(ModularKeys).replace("## The file\n", "## A modular application\n")
    modular = modular[: modular.index("## `components.<name>`")]
    part = "Each of `components` has the keys of a profile from `scaling` to `provenance`, and `runs`:"
    runs = tables(ModularKeys)
    runs = runs[runs.index("## `components.<name>.runs`") :].split("\n\n## ")[0].strip() + "\n"
    metric = tables(MetricKeys).split("\n\n## ")[0].strip().replace("## The file", "## A model of a metric")
    metric += "\n\n`fit scaling --metric` writes it; `provenance` is that of a profile.\n"
    return "\n".join(
        [_INTRODUCTION, whole, modular + part + "\n", runs, metric, _factors(), _CURVES, _curves()]
    )


def _factors() -> str:
    rows = [
        f"| `{name}` | {factor.label} | {'yes' if factor.may_exceed_one else ''} |"
        f" {', '.join(f'`{word}`' for word in factor.synonyms)} |"
        for name, factor in FACTORS.items()
    ]
    head = "| factor | | may exceed 1 | other names, in files of points |\n|---|---|---|---|"
    return "\n".join(["## Factors\n", "Other names are allowed in a profile.\n", head, *rows, ""])


def _curves() -> str:
    return "\n".join(_curve(kind) for kind in KINDS.values())


def _curve(kind: type[Curve]) -> str:
    fit = " ".join(str(getattr(kind, "fitted", kind).__doc__).split("\n\n")[0].split())
    of = ", ".join(f"`{name}`" for name in kind.INPUTS)
    of += ", and of other parameters" if kind.OTHERS else ""
    gives = f"Gives {_article(kind)} of {of}."
    rows = [_row(name, info, kind) for name, info in kind.model_fields.items()]
    without = "Fit: each part by itself." if kind.PARTS else "Fit: all forms at once, by their odds."
    told = f"Fit: {fit}" if hasattr(kind, "fitted") else without
    return "\n".join(
        [
            f"### `{kind.NAME}`\n",
            f"{kind.__doc__} {gives}\n",
            f"{kind.EQUATION}\n",
            f"{told} Source: {kind.SOURCE}.\n",
            "| parameter | default | allowed | meaning |\n|---|---|---|---|",
            *rows,
            "",
        ]
    )


def _article(kind: type[Curve]) -> str:
    if not hasattr(kind, "GIVES"):
        return "what `gives` says"
    return "an efficiency" if kind.GIVES == "efficiency" else f"a {kind.GIVES}"


def _row(name: str, info: FieldInfo, kind: type[Keys]) -> str:
    inner, _ = nested(info.annotation)
    allowed = words_for(kind, name)
    if inner is not None:
        parts = (f"{part} ({words_for(inner, part)})" for part in inner.model_fields)
        allowed = f"a list of mappings: {'; '.join(parts)}"
    default = "required" if info.is_required() else "" if info.default in ([], {}) else f"{info.default}"
    return f"| `{name}` | {default} | {allowed} | {info.description} |"


if __name__ == "__main__":
    import sys

    sys.stdout.write(keys_page())
