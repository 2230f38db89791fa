"""HTML that is escaped by construction: text becomes markup through :func:`tag` alone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from scheduler_sim.errors import SchedulerSimError


class Markup(str):
    """Text that is HTML already; everything else is escaped where it is put into an element."""

    __slots__ = ()


Child = str | Iterable[Any] | None
LONG = 24
"""Signs of text from which a cell is wide."""

VOID = {"meta", "input", "br", "img"}


def tag(name: str, *children: Child, **attributes: str | bool | None) -> Markup:
    """Build an element.

    Parameters
    ----------
    name : of the element.
    children : text, which is escaped; :class:`Markup`, which is not; lists of both.
    attributes : ``class_`` for class, ``aria_label`` for aria-label; True for one without value, None or
        False for none.
    """
    opening = name + "".join(_attribute(key, value) for key, value in attributes.items())
    if name in VOID:
        return Markup(f"<{opening}>")
    return Markup(f"<{opening}>{joined(children)}</{name}>")


def joined(children: Child) -> Markup:
    """Put text and elements after one another."""
    if children is None:
        return Markup()
    if isinstance(children, Markup):
        return children
    if isinstance(children, str):
        return Markup(escape(children))
    return Markup("".join(joined(child) for child in children))


def _attribute(key: str, value: str | bool | None) -> str:
    if value is None or value is False:
        return ""
    key = key.rstrip("_").replace("_", "-")
    return f" {key}" if value is True else f' {key}="{escape(str(value))}"'


def json_text(data: Any) -> Markup:
    """Write plain data as JSON that is safe within a script element.

    Without ``<``, ``>`` and ``&`` nothing in it can end the element or open a comment.
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


def script_text(text: str) -> Markup:
    """Return a script of ours or of a library as the content of a script element, where it is as it is.

    Raises
    ------
    SchedulerSimError : it holds what would end the element, or keep it from ending.
    """
    if re.search(r"</script|<!--", text, flags=re.IGNORECASE):
        raise SchedulerSimError("a script of the page holds </script or <!--, and cannot stand in HTML")
    return Markup(text)


def table(
    caption: str,
    header: Sequence[str],
    rows: Iterable[Sequence[Child]],
    *,
    text: int = 1,
    keys: Sequence[Sequence[Any]] | None = None,
    cards: bool = False,
) -> Markup:
    """Build a table that scrolls within itself; the page's script makes its columns sortable.

    Parameters
    ----------
    caption : what it shows, said above it.
    header : names of the columns.
    rows : of cells; the first of each is its header.
    text : columns from the left that hold text; the others hold numbers.
    keys : what to sort each cell by, where that is not its text; none: the table is not sortable.
    cards : on a narrow screen each row becomes a card, so that long texts are read without scrolling.
    """
    cells = [
        [
            tag(
                "td" if i else "th",
                cell,
                class_=_kind(cell, i < text),
                scope=None if i else "row",
                data_key=None if keys is None else str(keys[at][i]),
                data_column=header[i] if cards else None,
            )
            for i, cell in enumerate(row)
        ]
        for at, row in enumerate(rows)
    ]
    head = [
        tag("th", name, scope="col", class_=None if i < text else "number") for i, name in enumerate(header)
    ]
    whole = tag(
        "table",
        tag("caption", tag("span", caption)),
        tag("thead", tag("tr", head)),
        tag("tbody", [tag("tr", row) for row in cells]),
        class_=" ".join(["sortable"] * (keys is not None) + ["cards"] * cards) or None,
    )
    return scrolling(whole, caption)


def scrolling(content: Markup, label: str) -> Markup:
    """Put what may be wider than the screen into a region that scrolls, called ``label``."""
    return tag("div", content, class_="scroll", tabindex="0", role="region", aria_label=label)


def _kind(cell: Child, is_text: bool) -> str | None:
    if not is_text:
        return "number"
    return "long" if isinstance(cell, str) and len(cell) > LONG and not isinstance(cell, Markup) else None


def pairs(facts: Mapping[str, Child]) -> Markup:
    """Build a list of names and what they stand for."""
    return tag(
        "dl", [tag("div", tag("dt", name), tag("dd", value)) for name, value in facts.items()], class_="facts"
    )


def section(name: str, title: str, content: Child) -> Markup:
    """Make a part of the page with its heading."""
    heading = tag("h2", title, id=f"{name}-title")
    return tag("section", heading, content, id=name, aria_labelledby=f"{name}-title")


def chart(name: str, caption: str) -> Markup:
    """Make the place of a chart; its caption says in words what it shows."""
    drawn = tag("div", id=name, class_="chart", role="img", aria_labelledby=f"{name}-text")
    return tag("figure", drawn, tag("figcaption", caption, id=f"{name}-text"))
