"""The place of tables in a page: between ``<!-- NAME: ... -->`` and an end mark."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Place:
    """A place that a benchmark fills.

    Attributes
    ----------
    name : as its first mark has it; end : the words of its last one.
    holds : what stands there, in words.
    """

    name: str
    end: str = "end"
    holds: str = "tables"

    @property
    def marks(self) -> re.Pattern[str]:
        """Both marks, and what is between them."""
        return re.compile(rf"(<!-- {self.name}: .*? -->\n).*?(<!-- {self.end} -->)", re.DOTALL)

    def require(self, page: str | Path | None) -> None:
        """End the program if a page lacks the place, before anything is measured."""
        if page and not self.marks.search(Path(page).read_text(encoding="utf-8")):
            words = f"<!-- {self.name}: ... --> and <!-- {self.end} -->"
            sys.exit(f"{page}: found no place for the {self.holds}; allowed: {words}")

    def write(self, page: str | Path | None, text: str) -> None:
        """Put a text into the page as it is by now; without a page print it."""
        if not page:
            print(text)
            return
        now = Path(page).read_text(encoding="utf-8")
        filled = self.marks.sub(lambda found: f"{found[1]}\n{text}\n\n{found[2]}", now)
        Path(page).write_text(filled, encoding="utf-8")
