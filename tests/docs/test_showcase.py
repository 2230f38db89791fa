"""The figures of the showcase are those of the studies."""

from __future__ import annotations

import re

import pytest

from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "showcase.md").read_text(encoding="utf-8")
FINDINGS = [part for part in PAGE.split("\n## ")[1:] if "![" in part]
FIGURE = re.compile(r"[−+]?\d(?:[\d.,]*\d)?(?: (?:%|h|min|node-hours))?(?: \([^)]*\d\))?")
STUDY = re.compile(r"\[The study\]\(\.\./(analysis/\w+\.md)\)")


@pytest.mark.parametrize("finding", FINDINGS, ids=lambda text: text.splitlines()[0])
def test_every_figure_stands_in_the_study(finding):
    text = " ".join(finding.split())
    (study,) = STUDY.findall(text)
    page = " ".join((ROOT / study).read_text(encoding="utf-8").split())
    figures = FIGURE.findall(re.sub(r"\([^)]*/[^)]*\)", "", text))
    assert len(figures) >= 3
    assert [figure for figure in figures if figure not in page] == []


def test_there_are_six_of_one_picture_and_three_sentences():
    assert len(FINDINGS) == 6
    for finding in FINDINGS:
        _, picture, sentences = finding.strip().split("\n\n")
        assert picture.count("![") == 1
        assert len(re.findall(r"\.(?= [A-Z\[])", " ".join(sentences.split()))) == 3, sentences
