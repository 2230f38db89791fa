"""One HTML file from its parts: style, scripts, data, and a policy that forbids all else."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from string import Template
from typing import Any

from scheduler_sim.errors import InputError
from scheduler_sim.report.html.markup import Child, Markup, joined, json_text, script_text, tag
from scheduler_sim.version import __version__

BOKEH = ("bokeh.min.js", "bokeh-api.min.js")


@dataclass(frozen=True)
class Page:
    """What differs from page to page.

    Attributes
    ----------
    title : in words; body : of the page, below its title.
    scripts : names of our scripts in ``assets``, in order.
    data : plain data for the scripts; packed : columns for them, see ``pack``, or nothing.
    charts : whether it has any that Bokeh draws.
    """

    title: str
    body: Child
    scripts: Sequence[str]
    data: Mapping[str, Any] = field(default_factory=dict)
    packed: str = ""
    charts: bool = True


def html_of(page: Page) -> str:
    """Return the whole file; the same page gives the same text."""
    ours = "\n".join(_asset(name) for name in page.scripts)
    scripts = [*(_bokeh() if page.charts else ()), f'(() => {{\n"use strict";\n{ours}}})();\n']
    template = Template(_asset("page.html"))
    return template.substitute(
        policy=joined(_policy(scripts)),
        version=__version__,
        title=joined(page.title),
        style=_asset("look.css"),
        body=joined(page.body),
        data=json_text(page.data),
        packed=Markup(page.packed),
        scripts=Markup("\n".join(tag("script", script_text(script)) for script in scripts)),
    )


def _policy(scripts: Sequence[str]) -> str:
    """Allow these very scripts and no other, no network, no evaluated text; Bokeh needs its own styles."""
    allowed = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    rest = "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"
    return f"default-src 'none'; script-src {allowed}; {rest}"


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")


def _asset(name: str) -> str:
    return (files("scheduler_sim.report.html") / "assets" / name).read_text(encoding="utf-8")


def _bokeh() -> list[str]:
    """Return Bokeh's scripts as they come with its package; the Python side of Bokeh is not used."""
    try:
        folder = files("bokeh") / "server" / "static" / "js"
    except ModuleNotFoundError:
        raise InputError(
            "HTML pages need bokeh, which is not installed: pip install 'scheduler-sim[report]'"
        ) from None
    return [(folder / name).read_text(encoding="utf-8") for name in BOKEH]
