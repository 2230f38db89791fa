"""Compiled code that Python calls: numbers go there and come back, failures are raised."""

from __future__ import annotations

import ctypes
import weakref
from typing import NamedTuple

import llvmlite.binding as llvm
import numpy as np
import pytest

from scheduler_sim import Simulation, System, Workload
from scheduler_sim.engine.core.jit import COMPILED, entry
from scheduler_sim.engine.core.machine_code import Code, address_of
from scheduler_sim.engine.core.words import Words, layout_of

needs_compiler = pytest.mark.skipif(not COMPILED, reason="the compiler is off")


class Inner(NamedTuple):
    some: np.ndarray
    absent: tuple[()] = ()


class Tables(NamedTuple):
    """What stands for a core."""

    numbers: np.ndarray
    inner: Inner

    @property
    def shape(self) -> object:
        return "tables"

    @property
    def words(self) -> Words:
        return Words(self)


def tables(numbers=(7, 8)) -> Tables:
    return Tables(np.array(numbers), Inner(np.array([0.5, 0.25])))


@entry
def divided(core: Tables, place: int, by: int, share: float, whole: bool) -> float:
    value = core.numbers[place] // by
    core.numbers[place] = value
    return value + (1.0 if whole else core.inner.some[1]) + share


@needs_compiler
@pytest.mark.compiled
def test_numbers_go_and_come_back():
    core = tables()
    assert divided(core, np.int64(1), 2, 3, False) == 7.25
    assert divided(core, 1, True, 0.5, np.True_) == 5.5
    assert core.numbers.tolist() == [7, 4]


@needs_compiler
@pytest.mark.compiled
def test_what_compiled_code_raises_is_raised():
    core = tables()
    with pytest.raises(ZeroDivisionError):
        divided(core, 0, 0, 0.0, True)
    assert core.numbers.tolist() == [7, 8]
    assert divided(core, 0, 7, 0.0, True) == 2.0


@needs_compiler
@pytest.mark.compiled
@pytest.mark.parametrize("wrong", [(0, 2.5, 0.0, True), (0, "2", 0.0, True), (0, 2, 0.0), (0, 2, None, True)])
def test_what_is_no_such_number_is_refused(wrong):
    with pytest.raises((TypeError, ValueError)):
        divided(tables(), *wrong)


def test_words_say_where_arrays_are():
    core = tables()
    words, some = core.words, core.inner.some
    assert words.size == 14 * 8
    assert list((ctypes.c_int64 * 14).from_address(words.address)) == [
        *(0, 0, 2, 8, core.numbers.ctypes.data, 2, 8),
        *(0, 0, 2, 8, some.ctypes.data, 2, 8),
    ]


def test_code_is_for_one_layout():
    whole = np.zeros((4, 2))
    layouts = {
        layout_of(one)
        for one in (
            tables(),
            tables((1.5, 2.5)),
            tables([[1]]),
            tables()._replace(inner=()),
            tables()._replace(inner=Inner((), whole)),
            tables()._replace(numbers=np.zeros(2, dtype=[("time", "i8"), ("nodes", "i4")])),
            tables()._replace(numbers=np.zeros(2, dtype=[("time", "i8"), ("jobs", "i4")])),
        )
    }
    assert len(layouts) == 7


def test_arrays_lie_in_one_piece_and_can_be_written_to():
    whole = np.zeros((4, 2))
    with pytest.raises(TypeError, match="not C contiguous"):
        Words(tables()._replace(numbers=whole[:, 0]))
    whole.flags.writeable = False
    with pytest.raises(TypeError, match="not writable"):
        Words(tables()._replace(numbers=whole))
    assert Words(tables()._replace(numbers=whole[:0].copy())).size == 16 * 8


def test_objects_may_have_the_same_symbols():
    """Processes number what they compile, each by itself."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
    returned = []
    for number in (1, 2):
        module = llvm.parse_assembly(f"define i32 @entry() {{ ret i32 {number} }}")
        address = address_of(Code("entry", machine.emit_object(module)))
        returned.append(ctypes.CFUNCTYPE(ctypes.c_int32)(address)())
    assert returned == [1, 2]


@needs_compiler
def test_a_core_goes_when_nobody_needs_it():
    """It is large: it does not wait for the collector of circles."""
    jobs = Workload.from_columns(nodes=[1], submit_time=[0], run_time=[5])
    simulation = Simulation(System.homogeneous(2), jobs, "easy")
    core = simulation._core._replace()
    assert core.words.size > 0
    gone = weakref.ref(core.words)
    del core
    assert gone() is None
