"""The page on installing says what pyproject.toml does, and its tables add up."""

from __future__ import annotations

import re
import tomllib
from itertools import chain

from packaging.requirements import Requirement

from benchmarks.installed import HEAD, PLACE, Size, table
from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PAGE = (ROOT / "docs" / "installation.md").read_text(encoding="utf-8")
INSTALLED = re.findall(r"^\| (?:the (base)|`\[(\w+)\]`) \| (.*?) \|", PAGE, re.M)
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def packages(asked: list[str]) -> set[str]:
    """Names, those of an extra within an extra in its place."""
    found = [Requirement(text) for text in asked]
    within = [packages(PROJECT["optional-dependencies"][name]) for one in found for name in one.extras]
    return {one.name for one in found if one.name != PROJECT["name"]}.union(*within)


def test_the_base_and_the_extras_are_what_the_page_says() -> None:
    said = {base or extra: set(names.split(", ")) for base, extra, names in INSTALLED}
    extras = {name: packages(asked) for name, asked in PROJECT["optional-dependencies"].items()}
    assert said == {"base": packages(PROJECT["dependencies"])} | {
        k: v for k, v in extras.items() if k != "dev"
    }
    assert "The extra `[dev]`" in PAGE


def test_an_extra_that_the_page_on_architecture_names_is_there() -> None:
    named = re.findall(r"in the extras? `(\w+)`(?: and `(\w+)`)?", ARCHITECTURE)
    assert set(chain.from_iterable(named)) - {""} == set(PROJECT["optional-dependencies"])


def rows() -> dict[str, list[int]]:
    """The table of sizes: three numbers a package, 0 where a cell is empty."""
    found = PLACE.marks.search(PAGE)
    assert found
    lines = [line.strip("| ").split("|") for line in found[0].splitlines() if line.startswith("| ")][1:]
    cells = [[*line, "", ""][:4] for line in lines]
    return {name.strip(): [int(cell.strip() or 0) for cell in numbers] for name, *numbers in cells}


def test_the_sizes_add_up_and_are_those_of_the_text() -> None:
    sizes = rows()
    *parts, whole = sizes.values()
    assert list(sizes)[-1] == "**all**"
    assert [sum(column) for column in zip(*parts, strict=True)] == whole
    said = PAGE.partition("**More than 600 MB.**")[2]
    assert whole[0] > 600
    assert f"llvmlite and Numba, {sizes['llvmlite'][0] + sizes['numba'][0]} MB" in said
    assert f"pyarrow, {sizes['pyarrow'][0]} MB" in said
    assert f"Tests of the libraries are {whole[2]} MB" in said
    assert f"Bytecode is {whole[1]} MB" in said
    listed = {one.lower().replace("_", "-") for name in sizes for one in name.split(": ")[-1].split(", ")}
    assert packages(PROJECT["dependencies"]) <= listed


def test_packages_that_are_small_share_a_row() -> None:
    made = table({"large": Size(9_600_000, 1_000_000, 2_000_000), "b": Size(400_000), "a": Size(700_000)})
    assert made.splitlines() == [
        *HEAD.splitlines(),
        "| large | 10 | 1 | 2 |",
        "| 2 more: a, b | 1 |  |  |",
        "| **all** | 11 | 1 | 2 |",
    ]
