"""Columns of text without pandas, beside what pandas makes of the same texts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim.arrays import renumbered
from scheduler_sim.arrow_arrays import number_array, numbers_of, text_array, word_array
from scheduler_sim.texts import MISSING, TextColumn, data_frame

TEXTS = st.lists(st.sampled_from(["", "a", "b", "ä b", "1", "A"]), max_size=12)


@given(TEXTS)
def test_it_is_numbered_as_pandas_numbers_it(texts):
    column = TextColumn.of(texts).in_order()
    codes, words = pd.factorize(np.array(texts, dtype=object))
    assert column.codes.tolist() == codes.tolist()
    assert column.categories.tolist() == list(words)
    assert np.asarray(column).tolist() == texts
    assert list(column.categorical()) == texts


@given(TEXTS, st.randoms(use_true_random=False))
def test_order_of_appearance_does_not_depend_on_the_categories(texts, random):
    words = sorted({*texts, "never"})
    random.shuffle(words)
    column = TextColumn(np.array([words.index(text) for text in texts], dtype=np.int64), words).in_order()
    assert column.categories.tolist() == list(dict.fromkeys(texts))
    assert np.asarray(column).tolist() == texts


@given(TEXTS)
def test_mapped_texts_are_those_of_each_row(texts):
    column = TextColumn.of(texts).mapped(str.lower)
    assert np.asarray(column).tolist() == [text.lower() for text in texts]
    assert len(set(column.categories)) == len(column.categories)


@given(TEXTS, TEXTS)
def test_one_column_behind_another(one, other):
    joined = TextColumn.of(one).followed_by(TextColumn.of(other))
    assert np.asarray(joined).tolist() == one + other


@given(TEXTS)
def test_arrow_says_the_same(texts):
    column = TextColumn.of(texts)
    assert text_array(column).to_pylist() == texts
    assert text_array(column.in_order()).dictionary.to_pylist() == list(dict.fromkeys(texts))
    assert word_array(texts).to_pylist() == texts


def test_what_says_the_same_everywhere_has_no_memory_of_its_own():
    column = TextColumn.constant("a", 1000)
    assert column.codes.strides == column.in_order().codes.strides == (0,)
    assert column.mapped(str.upper).codes.strides == (0,)
    assert column[3] == "a"
    assert column[np.array([1, 2])].categories.tolist() == ["a"]


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA], ids=str)
def test_a_missing_text_has_the_code_of_pandas(missing):
    assert TextColumn.of(["a", missing, "a"]).codes.tolist() == [0, MISSING, 0]
    assert TextColumn.of(pd.Categorical(["a", missing])).codes.tolist() == [0, MISSING]


def test_other_values_are_texts_as_python_spells_them():
    column = TextColumn.of([1, "1", 2.5])
    assert np.asarray(column).tolist() == ["1", "1", "2.5"]
    assert (column == "1").tolist() == [True, True, False]
    assert (column != "1").tolist() == [False, False, True]
    assert not (column == "3").any()
    with pytest.raises(TypeError, match="compared with a text, not with int"):
        _ = column == 1


def test_a_series_is_taken_as_it_is():
    series = pd.Series(pd.Categorical(["b", "a", "b"], categories=pd.Index(["a", "b"], dtype=object)))
    column = TextColumn.of(series)
    assert column.categories.tolist() == ["a", "b"]
    assert np.asarray(column[1:]).tolist() == ["a", "b"]
    assert data_frame({"x": column, "n": np.arange(3)}).equals(pd.DataFrame({"x": series, "n": np.arange(3)}))


@given(st.lists(st.integers(0, 6), max_size=20))
def test_numbers_in_order_of_appearance(values):
    codes, first = renumbered(np.array(values, dtype=np.int64), 7)
    assert first[codes].tolist() == values
    assert first.tolist() == list(dict.fromkeys(values))


def test_numbers_go_to_arrow_and_back():
    values = np.arange(10, dtype=np.int64)
    strided = number_array(values[::2])
    assert strided.to_pylist() == [0, 2, 4, 6, 8]
    assert numbers_of(strided.slice(1, 3)).tolist() == [2, 4, 6]
    nan = number_array(np.array([1.5, np.nan]))
    assert nan.null_count == 0
    assert np.isnan(numbers_of(nan)[1])
