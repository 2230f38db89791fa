"""How valid input is changed: bytes anywhere, fields of lines, values and keys of trees."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from contextlib import suppress
from typing import Any

SCRAPS = [
    b"\n", b"\r\n", b"\0", b";", b" ", b"-", b"--", b"nan", b"inf", b"1e5", b"1e400", b"-1", b"0",
    b"9" * 25, b"9" * 5000, b".", b",", b'"', b"'", b"\xff", b"\t", b"\xe2\x82\xac", b"\xef\xbb\xbf",
    b"#", b";;;;", b"\x1f\x8b", b"AFTER", b"1,1", b"\r", b"\x0b", b"\x85", b"|", b"\x1f", b"_[", b"+",
    b"K", b"T25:", b"[", b"]", b"{", b"}", b": ", b"- ", b"&a ", b"*a", b"!!python/none ", b"=", b"%",
    b"(", b"99999999P", b"x" * 300, b"_[0-999999999]", b"[1-999999999]", b"\xf0\x9f\x98\x80",
    b"\xe2\x80\xae", b"-9223372036854775809",
]  # fmt: skip

TOKENS = [
    "", "0", "1", "-1", "2", "3", "7", "-0", "00", "1.5", "-2.5", "1e3", "nan", "inf", "x", "NA", "1,2",
    "a:b", "1-2", "2-00:00:00", "UNLIMITED", "12:00:00", "99999999P", "9223372036854775807",
    "9223372036854775808", "-9223372036854775808", "1" * 30, "9" * 5000, "n" * 300, "é", "\U0001f600",
    "1_[0-999999999]", "7_3", "8+1", "2147483647", "2147483648", "4294967296", "1000000000",
    "1000000000000000", "AFTEROK", "CANCELLED by 5", "CM", "cluster", "true", "[a|b]", "n[1-999999999]",
    "n[1-3,7]", "a=b", "a&b", "100%", "1:2:3", "YES", "gpu:4",
]  # fmt: skip

VALUES: list[Any] = [
    None, True, False, -1, 0, 1, 2, 3, 7, 64, 0.5, -0.5, 1.5, 1e-300, 1e300, float("inf"), float("nan"),
    2**31, 10**9, 10**12, 10**15, 2**63 - 1, 2**63, 10**30, "", " ", "x", "1", "5", "-1", "1e5",
    "2-00:00:00", "90s", "UNLIMITED", "null", "easy", "slurm", "CM", "ESB", "cluster", "total",
    "n" * 300, "9" * 5000, "é\u202e", "\U0001f600", "a,b", "a b", [], {}, [[]], [None], [1, 1],
    [1, 2, 3], {"a": 1}, {"1": 2}, [{"name": "CM"}], [[1, 2], [2, 3]], {"CM": 1},
    "2024-03-31T14:00+02:00", "a(b)", "no.yaml", "self.yaml", "n[1-999999999]",
]  # fmt: skip


def bytes_of(data: bytes, draw: random.Random) -> bytes:
    """Change some bytes: insert or overwrite with a scrap, delete, repeat, cut off, flip."""
    changed = bytearray(data)
    for _ in range(draw.randint(1, 4)):
        place = draw.randrange(len(changed) + 1)
        match draw.randrange(7):
            case 0:
                changed[place:place] = draw.choice(SCRAPS)
            case 1:
                changed[place : place + draw.randint(1, 8)] = draw.choice(SCRAPS)
            case 2:
                del changed[place : place + draw.randint(1, 30)]
            case 3:
                changed[place : place + 1] = bytes([draw.randrange(256)])
            case 4:
                changed[place:place] = changed[place : place + draw.randint(1, 40)] * draw.randint(1, 3)
            case 5:
                del changed[place:]
            case 6:
                other = draw.randrange(len(changed) + 1)
                changed[place:place] = changed[other : other + draw.randint(1, 20)]
    return bytes(changed)


def fields_of(text: str, separator: str | None, draw: random.Random) -> str:
    """Change fields of lines of text, and lines as a whole; ``separator`` None: blanks."""
    lines = text.splitlines()
    join = " " if separator is None else separator
    for _ in range(draw.randint(1, 4)):
        if not lines:
            break
        at = draw.randrange(len(lines))
        fields = lines[at].split(separator)
        match draw.randrange(8):
            case 0:
                del lines[at]
            case 1:
                lines.insert(draw.randrange(len(lines) + 1), lines[at])
            case 2 if fields:
                del fields[draw.randrange(len(fields))]
                lines[at] = join.join(fields)
            case 3 if len(fields) > 1:
                i, j = draw.randrange(len(fields)), draw.randrange(len(fields))
                fields[i], fields[j] = fields[j], fields[i]
                lines[at] = join.join(fields)
            case _ if fields:
                fields[draw.randrange(len(fields))] = draw.choice(TOKENS)
                lines[at] = join.join(fields)
    return "\n".join(lines) + "\n"


def tree_of(tree: Any, draw: random.Random, changes: int | None = None) -> Any:
    """Change values and keys somewhere in a tree of mappings and lists."""
    tree = copy.deepcopy(tree)
    for _ in range(draw.randint(1, 3) if changes is None else changes):
        places = list(_places(tree))
        if not places:
            return draw.choice(VALUES)
        holder, key = draw.choice(places)
        _CHANGES[draw.randrange(len(_CHANGES))](holder, key, draw, places)
    return tree


def _places(tree: Any) -> Any:
    """Every place of a tree as what holds it and its key; what stands in itself is not followed."""
    for key in list(tree) if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ():
        yield tree, key
        yield from _places(tree[key])


def _other_value(holder: Any, key: Any, draw: random.Random, _: Any) -> None:
    holder[key] = copy.deepcopy(draw.choice(VALUES))


def _near_value(holder: Any, key: Any, draw: random.Random, _: Any) -> None:
    old = holder[key]
    if isinstance(old, bool) or not isinstance(old, int | float):
        _other_value(holder, key, draw, _)
        return
    factor = draw.choice([0, -1, 0.5, 1, 2, 10, 1000, 10**6, 10**9])
    try:
        holder[key] = draw.choice([old * factor, old + 1, old - 1, str(old), [old], float(old)])
    except OverflowError:
        holder[key] = 0


def _delete(holder: Any, key: Any, draw: random.Random, _: Any) -> None:
    del holder[key]


def _rename(holder: Any, key: Any, draw: random.Random, places: Any) -> None:
    if not isinstance(holder, dict):
        _other_value(holder, key, draw, places)
        return
    keys = [str(key) for held, key in places if isinstance(held, dict)]
    holder[draw.choice([*keys, *TOKENS[:30]])] = holder.pop(key)


def _add(holder: Any, key: Any, draw: random.Random, places: Any) -> None:
    others = [other for held, other in places if isinstance(held, dict)]
    value = copy.deepcopy(draw.choice(VALUES))
    if isinstance(holder, dict):
        holder[draw.choice([*others, "x", "nodes", "name"])] = value
    else:
        holder.insert(key, copy.deepcopy(draw.choice([value, holder[key]])))


def _wrap(holder: Any, key: Any, draw: random.Random, _: Any) -> None:
    holder[key] = draw.choice(
        [[holder[key]], {"a": holder[key]}, {str(key): holder[key]}, str(holder[key])[:300]]
    )


def _move(holder: Any, key: Any, draw: random.Random, places: Any) -> None:
    other, there = draw.choice(places)
    with suppress(KeyError, IndexError):
        holder[key] = copy.deepcopy(other[there])


_CHANGES: list[Callable[..., None]] = [
    _other_value, _other_value, _other_value, _near_value, _near_value, _delete, _rename, _add, _wrap, _move,
]  # fmt: skip
