"""The page on the architecture says which room imports which."""

from __future__ import annotations

import re

import grimp

from scheduler_sim.engine.engine import PARTS
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `(\w+)` \| .* \| (.*?) ?\|$", re.M)


def section(title: str) -> str:
    """Return what stands under a heading of the page."""
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


ROOMS = {match[1]: set(match[2].split(", ")) - {""} for match in ROW.finditer(section("Rooms"))}
BELOW_ALL = {"arrays", "arrow_arrays", "errors", "numerals", "texts", "units", "version"}
PLACES = re.compile(r"`(\w+/\w+|\w+)(?:\.(\w+))?`")


def imports() -> dict[str, set[str]]:
    """Rooms that the modules of each room import, wherever in a module they do."""
    graph = grimp.build_graph("scheduler_sim", exclude_type_checking_imports=True)
    found: dict[str, set[str]] = {}
    for module in graph.modules - {"scheduler_sim", "scheduler_sim.__main__"}:
        room = module.split(".")[1]
        others = {
            other.split(".")[1] for other in graph.find_modules_directly_imported_by(module) if "." in other
        }
        found[room] = found.get(room, set()) | others - {room}
    return found


def test_the_table_of_rooms_is_true() -> None:
    found = imports()
    assert set(ROOMS) == set(found) - {"version"}
    for room, listed in ROOMS.items():
        assert listed == found[room] - BELOW_ALL, room
    assert "errors" not in found["engine"]


def circles(graph: grimp.ImportGraph, package: str = "scheduler_sim") -> set[tuple[str, str]]:
    """Imports that close circles among what stands directly inside a package, or inside one of its parts."""
    found = set(graph.nominate_cycle_breakers(package))
    for child in graph.find_children(package):
        found |= circles(graph, child)
    return found


def test_types_alone_close_circles_only_where_a_result_offers_its_pictures() -> None:
    graph = grimp.build_graph("scheduler_sim", exclude_type_checking_imports=False)
    importers = {importer for importer, _ in circles(graph)}
    assert importers == {"scheduler_sim.result.result", "scheduler_sim.result.views"}


def test_the_table_of_rules_is_that_of_the_engine() -> None:
    assert {match[1] for match in ROW.finditer(section("The engine"))} == set(PARTS)
    schemes = {path.stem for path in (ROOT / "scheduler_sim" / "engine" / "schemes").glob("[a-z]*.py")}
    drawn = re.search(r"^schemes/ +one file a pass: (.*)$", PAGE, re.M)
    assert drawn
    assert set(drawn[1].split(", ")) == schemes


def test_places_for_later_work_exist() -> None:
    rows = PAGE[PAGE.index("| later |") :].split("\n\n")[0].splitlines()[2:]
    assert rows
    for row in rows:
        later, rooms, where = (cell.strip() for cell in row.strip("|").split("|"))
        assert re.split(", | or ", rooms), later
        assert set(re.split(", | or ", rooms)) <= set(ROOMS), later
        for name, _ in PLACES.findall(where):
            if name.isupper():
                continue
            places = list((ROOT / "scheduler_sim").glob(f"**/{name}.py"))
            assert places, f"{later}: {name}"
