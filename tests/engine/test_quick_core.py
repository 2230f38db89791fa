"""Views of a core for plain Python: they read and write the core's own memory, in numbers of Python."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler_sim.engine.core.records import one
from tests.engine.plain_engine import core
from tests.engine.quick_core import quick


def test_what_is_written_in_a_view_is_in_the_core_and_the_other_way_round():
    made = core(rows=3)
    views = quick(made)
    views.clock.now, views.jobs[2].submit, views.jobs[0].state = 7, 2**40, 3
    views.queue.waiting[1] = 5
    assert (made.clock.now, made.queue.waiting[1]) == (7, 5)
    assert (made.jobs[2].submit, made.jobs[0].state) == (2**40, 3)
    made.pools[1].free, made.profile[0, 4].time = 6, 9
    assert (views.pools[1].free, views.profile[0, 4].time, views.profile[0][4].time) == (6, 9, 9)
    assert type(views.pools[1].free) is type(views.queue.waiting[1]) is int


def test_records_are_copied_and_the_last_one_is_counted_from_the_end():
    made = core(rows=3)
    views = quick(made)
    views.jobs[0].submit = 4
    views.jobs[1] = views.jobs[0]
    kept = views.jobs[0].copy()
    views.jobs[0].submit = 8
    assert [made.jobs[i].submit for i in range(3)] == [8, 4, 0]
    assert (kept.submit, len(views.jobs), views.jobs.shape) == (4, 3, (3,))
    views.jobs[-1].submit = 6
    assert made.jobs[2].submit == 6
    with pytest.raises(IndexError):
        _ = views.jobs[3]


def test_a_core_made_of_another_has_its_views_but_for_what_is_new():
    made = core(rows=3)
    views = quick(made)
    assert quick(made) is views
    other = quick(made._replace(jobs=made.jobs.copy()))
    assert other.jobs is not views.jobs
    assert other.pools is views.pools
    assert other.absent == made.absent


class Word:
    bits: np.uint64


def test_sets_of_nodes_have_words_of_numpy():
    made = core()._replace(clock=one(Word))
    views = quick(made)
    views.clock.bits = np.uint64(6)
    assert ~views.clock.bits == np.uint64(2**64 - 7)
    assert made.clock.bits == 6
