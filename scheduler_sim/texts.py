"""Columns of text without pandas, whose loading takes longer than most runs do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from scheduler_sim.arrays import renumbered

if TYPE_CHECKING:
    import pandas as pd


MOST_LISTED = 10_000
"""So many combinations beyond the rows may be listed to find those that there are; else rows are sorted."""

MISSING = -1
"""The code of a row without text, as pandas has it: in what others made, in no workload and no result."""


class TextColumn:
    """A column of text: the different texts, and which of them each row has. Read-only.

    It has the ``codes`` and ``categories`` of a pandas categorical, which a DataFrame has in its place.

    Attributes
    ----------
    codes : int[rows], the place of each row's text, MISSING where it has none; without memory of its own
        where all rows say the same
    categories : object[texts], str, all different
    """

    __slots__ = ("categories", "codes")
    ndim = 1

    def __init__(self, codes: np.ndarray, categories: Iterable[str]) -> None:
        self.codes = codes
        self.categories = words(categories)

    @classmethod
    def of(cls, values: Any) -> TextColumn:
        """Return the column of values, row by row, as text, or of a pandas categorical or series as it is."""
        column = getattr(values, "array", values)  # of a series
        if isinstance(column, cls):
            return column
        if is_text_column(column):
            return cls(column.codes, column.categories)
        found: dict[Any, int] = {}
        listed = [found.setdefault(text, len(found)) for text in np.asarray(column, dtype=object).tolist()]
        known: dict[str, int] = {}
        place = [MISSING if _misses(one) else known.setdefault(str(one), len(known)) for one in found]
        return cls(np.array(place, dtype=np.int32)[listed], known)

    @classmethod
    def constant(cls, text: str, rows: int) -> TextColumn:
        """Return the column that says the same in all rows."""
        return cls(np.broadcast_to(np.int8(0), (rows,)), (text,))

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def size(self) -> int:
        """How many rows it has; numpy asks for this, and for ``ndim``, before it makes an array of it."""
        return len(self.codes)

    def __getitem__(self, rows: Any) -> Any:
        """Return the text of a row, or the column of some."""
        codes = self.codes[rows]
        return TextColumn(codes, self.categories) if np.ndim(codes) else self.categories[codes]

    def __eq__(self, text: object) -> Any:
        """Tell of each row whether it says a text: bool[rows]. Raises TypeError for anything but a text."""
        if not isinstance(text, str):
            raise TypeError(f"a column of text is compared with a text, not with {type(text).__name__}")
        place = np.flatnonzero(self.categories == text)
        return self.codes == place[0] if len(place) else np.zeros(len(self), dtype=bool)

    def __ne__(self, text: object) -> Any:
        """Tell of each row whether it says something else than a text: bool[rows]."""
        return ~(self == text)

    __hash__ = None  # type: ignore[assignment]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        texts: np.ndarray = self.categories[self.codes]
        return texts

    def tolist(self) -> list[str]:
        """Return the text of each row."""
        texts: list[str] = self.categories[self.codes].tolist()
        return texts

    def copy(self) -> TextColumn:
        """Return a column with memory of its own."""
        return TextColumn(self.codes.copy(), self.categories)

    def in_order(self) -> TextColumn:
        """Return the column with the texts that rows have, in order of first appearance."""
        if len(self.categories) == 1 and len(self.codes):
            return TextColumn.constant(self.categories[0], len(self.codes))
        codes, used = renumbered(self.codes, len(self.categories))
        return TextColumn(codes, self.categories[used])

    def mapped(self, rule: Callable[[str], str]) -> TextColumn:
        """Return the column with every text replaced by what ``rule`` makes of it."""
        made = [rule(text) for text in self.categories]
        number = {text: code for code, text in enumerate(dict.fromkeys(made))}
        if len(number) == 1:
            return TextColumn.constant(made[0], len(self))
        place = np.array([number[text] for text in made], dtype=np.int32)
        return TextColumn(place[self.codes], number).in_order()

    def followed_by(self, other: TextColumn) -> TextColumn:
        """Return the column with the rows of another behind its own."""
        number = {text: code for code, text in enumerate(self.categories.tolist())}
        place = [number.setdefault(text, len(number)) for text in other.categories.tolist()]
        behind = np.array(place, dtype=np.int32)[other.codes]
        return TextColumn(np.concatenate([self.codes, behind]), number)

    def categorical(self) -> pd.Categorical:
        """Return it as a DataFrame has it."""
        import pandas as pd

        return pd.Categorical.from_codes(self.codes, pd.Index(self.categories, dtype=object), validate=False)


def _misses(value: Any) -> bool:
    return not isinstance(value, str) and (value is None or str(value) in ("nan", "<NA>", "NaT"))


def combined(*columns: Any) -> tuple[np.ndarray, list[tuple[Any, ...]]]:
    """Number the combinations of texts or whole numbers that rows have, in order of first appearance.

    Returns int[rows], the number of each row's, and the combinations.
    """
    told = [_values(column) for column in columns]
    code, size = np.zeros(len(columns[0]), dtype=np.int64), 1
    for codes, values in told:
        code, size = code * len(values) + codes, size * len(values)
    found = np.arange(size)
    if size > MOST_LISTED + len(code):
        found, code = np.unique(code, return_inverse=True)
    code, used = renumbered(code, len(found))
    places, made = found[used], list[np.ndarray]()
    for _, values in reversed(told):
        places, place = np.divmod(places, max(len(values), 1))
        made.insert(0, values[place])
    return code, list(zip(*(values.tolist() for values in made), strict=True))


def _values(column: Any) -> tuple[np.ndarray, np.ndarray]:
    """A column as places, int[rows], in its values."""
    if is_text_column(column):
        return column.codes, column.categories
    values, codes = np.unique(column, return_inverse=True)
    return codes, values


def data_frame(columns: Mapping[str, Any] | pd.DataFrame) -> pd.DataFrame:
    """Return columns, arrays and of text, as a DataFrame, without copying numbers."""
    import pandas as pd

    made = {name: one.categorical() if isinstance(one, TextColumn) else one for name, one in columns.items()}
    return pd.DataFrame(made, copy=False)


def is_text_column(column: Any) -> bool:
    """Tell whether a column is text with categories: ours, or of pandas."""
    return hasattr(column, "categories")


def words(texts: Iterable[str]) -> np.ndarray:
    """Return texts as an array of objects, object[texts]."""
    if isinstance(texts, np.ndarray) and texts.dtype == object:
        return texts
    return np.array(list(texts), dtype=object)
