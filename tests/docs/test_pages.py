"""Every example in the documentation runs, and prints what the page says; every link leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.docs.pages import PAGES, examples, run_examples

LINK = re.compile(r"\]\(([^)\s#]+)(#[^)]*)?\)")
WITH_EXAMPLES = [page for page in PAGES if examples(page)]


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.long
@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=name)
def test_examples_run_and_print_what_the_page_says(page, tmp_path):
    found = examples(page)
    if any("import gymnasium" in example.code for example in found):
        pytest.importorskip("gymnasium", reason="needs Gymnasium: pip install 'scheduler-sim[gym]'")
    printed = run_examples(found, tmp_path)
    assert len(printed) == len(found)
    for example, text in zip(found, printed, strict=True):
        lines = iter(line.rstrip() for line in text.splitlines())
        for wanted in example.prints:  # in this order, other lines between them
            assert wanted in lines, f"not printed: {wanted!r}\n{text}"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page):
    for target, _ in LINK.findall(page.read_text(encoding="utf-8")):
        if not target.startswith(("https://", "http://", "mailto:")):
            assert (page.parent / target).exists(), f"{name(page)} links to {target}"


def test_no_two_commands_of_the_pages_write_different_things_into_one_directory():
    """Pages are read one after the other in one checkout: a study is refused in the result of a run."""
    wrote = re.compile(r"scheduler-sim (run|study) .*--out (\S+)")
    kinds = {}
    for page in PAGES:
        for example in examples(page):
            for command, out in wrote.findall(example.code):
                kinds.setdefault(out, set()).add(command)
    assert len(kinds) > 5
    assert {out: found for out, found in kinds.items() if len(found) > 1} == {}


def test_readme_shows_the_commands_that_a_newcomer_types():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in readme
    assert "make test" in readme
    assert "make test-long" in readme
    assert "\nmake test\nmake test-long\n" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_the_architecture_lists_every_dependency():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").lower()
    for requirement in project["dependencies"]:
        assert f"| {re.split('[<>=]', requirement)[0]} |" in page


def test_every_page_can_be_found_from_the_readme():
    seen, todo = set(), [ROOT / "README.md"]
    while todo:
        page = todo.pop()
        if page in seen:
            continue
        seen.add(page)
        links = (target for target, _ in LINK.findall(page.read_text(encoding="utf-8")))
        todo += [
            (page.parent / target).resolve()
            for target in links
            if target.endswith(".md") and ":" not in target
        ]
    assert not set(PAGES) - seen
