"""Simulations in files: one file, from which a simulation goes on that is as the one that was saved.

A file is a zip of arrays as NumPy writes them, and one text that says what they are. Tables of the core
stand there as they lie in memory, so a file is for the sources that wrote it alone.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from scheduler_sim.engine.core.hooks import ABSENT, is_absent
from scheduler_sim.engine.core.records import address_of, bytes_of, in_line, piece_of, whole_of
from scheduler_sim.engine.engine import FullCore, used
from scheduler_sim.errors import InputError
from scheduler_sim.output.packed import BrokenFile, packing_of
from scheduler_sim.output.rule import Kind
from scheduler_sim.output.whole import whole_file
from scheduler_sim.version import __version__

TEXT = "simulation.json"
FORMAT = "scheduler-sim simulation 1"
BLOCK_BYTES = 1 << 20
SMALL_BYTES = 1 << 26
MOST_UNPACKED, MOST_ROOM = 1000, 64
"""How many times its own size a file may unpack to, and ask for as room; what is small it may always."""

MADE = (1980, 1, 1, 0, 0, 0)
"""When all that stands in a file was made: the same is always the same bytes."""


@cache
def sources() -> str:
    """Return what tells the sources of this package from all others."""
    folder = Path(__file__).parent.parent
    digest = hashlib.sha256(np.__version__.encode())
    for source in sorted(folder.rglob("*.py")):
        digest.update(str(source.relative_to(folder)).encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()


# -- the file


def write(path: str | Path, text: Mapping[str, Any], arrays: Sequence[np.ndarray]) -> None:
    """Write a file, whole or not at all. Raises InputError where something else stands."""
    head = {"format": FORMAT, "version": __version__, "sources": sources()}
    with whole_file(path, SAVED) as out, zipfile.ZipFile(out, "w") as file:
        with file.open(zipfile.ZipInfo(TEXT, MADE), "w") as member:
            member.write(json.dumps({**head, **text}).encode())
        for number, array in enumerate(arrays):
            with file.open(zipfile.ZipInfo(f"{number}.npy", MADE), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


@contextmanager
def reading(path: str | Path) -> Iterator[tuple[dict[str, Any], list[np.ndarray]]]:
    """Open a file, for its text and its arrays.

    Raises InputError for what is no such file, is damaged, or was written by other sources, also where that
    is found out by whoever reads them.
    """
    try:
        with Path(path).open("rb") as raw, _opened(raw) as file:
            text = _text(path, file)
            arrays = [_array(file, f"{number}.npy") for number in range(len(file.namelist()) - 1)]
        yield text, arrays
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    except BROKEN as error:
        said = str(error) or type(error).__name__
        raise InputError(f"{path}: no saved simulation, or a damaged one: {said:.200}") from None


BROKEN = (
    *(ValueError, LookupError, TypeError, AttributeError, ArithmeticError, EOFError, RecursionError),
    *(StopIteration, MemoryError, NotImplementedError, BrokenFile, zipfile.BadZipFile, zlib.error),
)
"""What Python raises where a text or an array is not as it was written."""


def _text(path: str | Path, file: zipfile.ZipFile) -> dict[str, Any]:
    text = json.loads(_member(file, TEXT))
    if not isinstance(text, dict) or text.get("format") != FORMAT:
        raise ValueError(f"found no {FORMAT!r}")
    if text.get("sources") != sources():
        raise InputError(
            f"{path}: found a simulation that scheduler-sim {text.get('version')!r:.20} saved with other"
            f" sources than these, of {__version__!r}; allowed: files that the same sources saved"
        )
    return text


def _member(file: zipfile.ZipFile, name: str) -> bytes:
    info = file.getinfo(name)
    if info.compress_type != zipfile.ZIP_STORED:
        raise ValueError(f"{name} is packed")
    return file.read(info)


def _array(file: zipfile.ZipFile, name: str) -> np.ndarray:
    content = io.BytesIO(_member(file, name))
    shape, _, kind = HEADERS[np.lib.format.read_magic(content)](content)
    there = len(content.getbuffer()) - content.tell()
    if math.prod(shape) * max(kind.itemsize, 1) != there:
        raise ValueError(f"{name} has {there} bytes for {shape} values")
    content.seek(0)
    return np.lib.format.read_array(content, allow_pickle=False)


HEADERS: dict[Any, Any] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def _opened(raw: BinaryIO) -> zipfile.ZipFile:
    """Open the zip, none of whose members is stored in the place of another."""
    unpacked = _unpacked(raw)
    file = zipfile.ZipFile(unpacked)
    stored, size = sum(info.file_size for info in file.infolist()), unpacked.seek(0, io.SEEK_END)
    if stored > size:
        raise ValueError(f"its members have {stored} bytes, the file {size}")
    return file


def _unpacked(raw: BinaryIO) -> BinaryIO:
    packing = packing_of(raw.read(4))
    most = max(SMALL_BYTES, MOST_UNPACKED * raw.seek(0, io.SEEK_END))
    raw.seek(0)
    if packing is None:
        return raw
    blocks: list[bytes] = []
    for number, block in enumerate(packing.unpacked(raw, BLOCK_BYTES)):
        if number * BLOCK_BYTES > most:
            raise BrokenFile(f"it unpacks to more than {most} bytes")
        blocks.append(block)
    return io.BytesIO(b"".join(blocks))


def _is_saved(path: Path) -> bool:
    """Whether a file is a saved simulation, of whatever sources."""
    try:
        with path.open("rb") as raw, _opened(raw) as file:
            return bool(json.loads(_member(file, TEXT)).get("format") == FORMAT)
    except (OSError, *BROKEN):
        return False


SAVED = Kind("a saved simulation", _is_saved)


# -- the core in it


def leaves(part: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the tables and records of a core by name; of what is absent nothing."""
    if isinstance(part, np.ndarray | np.void):
        yield place, part
    elif isinstance(part, tuple):
        for name, one in zip(cast(Any, part)._fields if part else (), part, strict=True):
            yield from leaves(one, f"{place}.{name}" if place else name)


def core_text(core: FullCore, arrays: list[np.ndarray]) -> dict[str, Any]:
    """Return what a text says of a core; its tables are put to the arrays, of room what is filled.

    Of an array of which there are pieces alone, what lies from the first of them to the last is put there.
    """
    filled = used(core)
    found, pieces = dict[str, Any](), dict[int, list[tuple[str, np.ndarray]]]()
    for name, leaf in leaves(core):
        if isinstance(leaf, np.void):
            arrays.append(np.array([leaf], dtype=leaf.dtype))
            found[name] = {"record": len(arrays) - 1}
        elif whole_of(leaf) is leaf:
            arrays.append(leaf[..., : filled[name]] if name in filled else leaf)
            found[name] = {"array": len(arrays) - 1, "shape": leaf.shape}
        else:
            pieces.setdefault(id(whole_of(leaf)), []).append((name, leaf))
    for those in pieces.values():
        whole = whole_of(those[0][1])
        begin = min(address_of(leaf) for _, leaf in those)
        end = max(address_of(leaf) + leaf.nbytes for _, leaf in those)
        arrays.append(bytes_of(whole)[begin - address_of(whole) : end - address_of(whole)])
        for name, leaf in those:
            found[name] = {"piece": len(arrays) - 1, "at": address_of(leaf) - begin, "shape": leaf.shape}
    return found


def core_like(pattern: FullCore, text: Mapping[str, Any], arrays: Sequence[np.ndarray]) -> FullCore:
    """Return the core of a text, the parts of which are those of a pattern. Raises ValueError if not."""
    names = {name for name, _ in leaves(pattern)}
    if not names.issuperset(text):
        raise ValueError(f"found {min(set(text) - names)}, which such a simulation does not have")
    room = max(SMALL_BYTES, MOST_ROOM * sum(array.nbytes for array in arrays))
    lined_up = {one["piece"]: in_line(arrays[one["piece"]]) for one in text.values() if "piece" in one}
    arrays = [lined_up.get(number, array) for number, array in enumerate(arrays)]
    rooms = dict.fromkeys(used(pattern), room)
    return cast(FullCore, _part_like(pattern, text, arrays, "", rooms))


def _part_like(
    pattern: Any, text: Mapping[str, Any], arrays: list[np.ndarray], place: str, rooms: Mapping[str, int]
) -> Any:
    """``rooms``: the tables that are larger than what is filled of them, and how many bytes they may have."""
    if isinstance(pattern, np.ndarray | np.void):
        return _leaf_like(pattern, text[place], arrays, place, rooms.get(place, 0))
    if not isinstance(pattern, tuple) or is_absent(pattern):
        return pattern
    made = {}
    for name, one in cast(Any, pattern)._asdict().items():
        inner = f"{place}.{name}" if place else name
        there = any(known == inner or known.startswith(f"{inner}.") for known in text)
        is_table = any(True for _ in leaves(one))
        made[name] = _part_like(one, text, arrays, inner, rooms) if there or not is_table else ABSENT
    return type(pattern)(**made)


def _leaf_like(pattern: Any, text: Mapping[str, Any], arrays: list[np.ndarray], place: str, room: int) -> Any:
    if "piece" in text:
        return piece_of(arrays[text["piece"]], text["at"], pattern, tuple(text["shape"]))
    whole = arrays[text["array" if isinstance(pattern, np.ndarray) else "record"]]
    if whole.dtype.descr != pattern.dtype.descr:
        raise ValueError(f"{place} is of another kind")
    whole = whole.view(pattern.dtype)
    if isinstance(pattern, np.void):
        return whole[0].copy()
    shape = tuple(text["shape"])
    if len(shape) != pattern.ndim or shape[:-1] != whole.shape[:-1]:
        raise ValueError(f"{place} has another shape")
    if shape != whole.shape and not whole.nbytes <= math.prod(shape) * whole.itemsize <= room:
        raise ValueError(f"{place} has room for {shape[-1]}, the file for less")
    made = np.empty(shape, dtype=pattern.dtype)
    made[..., : whole.shape[-1]] = whole
    return made
