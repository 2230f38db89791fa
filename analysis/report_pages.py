"""Photograph every type of page of the report: ``report_pages.py FOLDER [SCHEDULER_SIM [PAGE ...]]``.

The pages are of data that comes with the package. ``SCHEDULER_SIM`` is the command of another version, whose
pages have the same names; without names all pages are photographed. It needs Chromium and takes some minutes.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).parents[1]
COLOURS = 192

SYSTEMS, WORKLOADS, MODELS = (ROOT / place for place in ("configs/systems", "workloads", "configs/models"))
STUDIES = ROOT / "configs/studies"

RESULTS: dict[str, list[str | Path]] = {
    "run": ["run", SYSTEMS / "cluster-128.yaml", WORKLOADS / "sample-1000.swf", "--policy", "easy"],
    "energy": [
        *("run", SYSTEMS / "deep-est-prototype.yaml", WORKLOADS / "sample-modular.mwf"),
        *("--models", MODELS / "deep-est-energy.yaml"),
    ],
    "site": ["run", SYSTEMS / "small-site.conf", WORKLOADS / "sample-sacct.txt", "--policy", "slurm"],
    "study": ["study", STUDIES / "policies.yaml"],
    "search": ["study", STUDIES / "best-mix.yaml"],
}
"""The commands that make what the reports are of."""

BENCHMARKS = [WORKLOADS / "sample-benchmarks.csv", "--benchmark", "solver", "--environment", "mpi"]


@dataclass(frozen=True)
class Shot:
    """A picture of a page.

    Attributes
    ----------
    result : whose page; place : at which it begins, a selector; asked : a component whose story is asked for.
    width, height : of the picture in pixels.
    """

    result: str
    height: int
    place: str = "h1"
    width: int = 1280
    asked: str = ""


SHOTS = {
    "run": Shot("run", 1625),
    "classes": Shot("site", 985, "#classes"),
    "energy": Shot("energy", 420, "#energy"),
    "recorded": Shot("site", 1005, "#recorded"),
    "story": Shot("site", 910, "#story", asked="41018"),
    "jobs": Shot("site", 500, "#jobs"),
    "study": Shot("study", 1200),
    "search": Shot("search", 1160),
    "benchmarks": Shot("benchmarks", 900),
    "phone": Shot("study", 844, "#found .scroll", 390),
}


def main(folder: str, command: str = "", *names: str) -> int:
    """Make the reports and photograph them; return the exit code."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        print("no chromium, chromium-browser or google-chrome on the path", file=sys.stderr)
        return 2
    words = [command] if command else [sys.executable, "-m", "scheduler_sim"]
    shots = {name: SHOTS[name] for name in names or SHOTS}
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as made, sync_playwright() as playwright:
        pages = {result: report(words, result, Path(made)) for result in {s.result for s in shots.values()}}
        # A container's root may not use the sandbox; the pages are our own.
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        for name, shot in shots.items():
            file = target / f"{name}.png"
            file.write_bytes(photograph(chromium, pages[shot.result], shot))
            print(f"{file.name}: {file.stat().st_size / 1000:.0f} kB")
        chromium.close()
    return 0


def report(words: Sequence[str], result: str, made: Path) -> Path:
    """Make a result and its report; return the page."""
    page, place = made / f"{result}.html", made / result
    if result == "benchmarks":
        store = made / "results.sqlite"
        commands = [["benchmarks", "add", store, *BENCHMARKS], ["benchmarks", "report", store]]
    else:
        commands = [[*RESULTS[result], "--out", place], ["report", place]]
    commands[-1] += ["--out", page]
    for command in commands:
        subprocess.run([*words, *map(str, command)], check=True, stdout=subprocess.DEVNULL)
    return page


def photograph(chromium: Browser, page: Path, shot: Shot) -> bytes:
    """Return the picture, with few colours."""
    tab = chromium.new_page(viewport={"width": shot.width, "height": shot.height})
    tab.goto(page.as_uri())
    tab.wait_for_selector("html[data-ready]")
    if shot.asked:
        tab.fill("#story-field", shot.asked)
        tab.press("#story-field", "Enter")
    tab.wait_for_timeout(1000)  # until the charts are painted
    top = tab.locator(shot.place).first.evaluate("one => one.getBoundingClientRect().top + scrollY")
    tab.evaluate("top => scrollTo(0, top)", max(top - 10, 0))
    tab.wait_for_timeout(300)
    picture = Image.open(BytesIO(tab.screenshot())).convert("RGB")
    tab.close()
    file = BytesIO()
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(file, "PNG", optimize=True)
    return file.getvalue()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} FOLDER [SCHEDULER_SIM [PAGE ...]]")
    sys.exit(main(*sys.argv[1:]))
