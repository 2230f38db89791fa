"""Compiled schedulers are kept between runs, and made anew where what they are made from is another."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import numpy as np
import pytest

from scheduler_sim.engine.compiler import teachers
from scheduler_sim.engine.core import needed
from scheduler_sim.engine.core.jit import COMPILED
from scheduler_sim.schedulers.compiling import _methods_of
from scheduler_sim.schedulers.identity import identity_of
from tests.conftest import ROOT

pytestmark = pytest.mark.skipif(not COMPILED, reason="the compiler is off")

# -- whole runs

PROGRAM = """
import json, sys
from scheduler_sim import System, Workload, simulate
from scheduler_sim.errors import ConfigError

from numba.core.dispatcher import _FunctionCompiler
found, whole = [], _FunctionCompiler._compile_core

def compile_core(self, *arguments):
    found.append(self.py_func.__qualname__)
    return whole(self, *arguments)

_FunctionCompiler._compile_core = compile_core
jobs = Workload.from_columns(nodes=[2, 2], submit_time=[0, 3], run_time=[60, 5], time_limit=[70, 10])
policy = {"scheduler": "mine.py:Mine", "parameters": json.loads(sys.argv[1])}
try:
    said = simulate(System.homogeneous(3), jobs, policy).components["start_time"].tolist()
except ConfigError as error:
    said = str(error)
print(json.dumps([said, found]))
"""

MINE = """
import numpy as np
import scheduler_sim
import other

@scheduler_sim.compiled
class Mine:
    def __init__(self, place=0):
        self.place = place
        self.seen = np.zeros(4)

    def schedule(self, view):
        found = []
        for job in view.queue:
            self.seen[int(self.place)] += 1
            found.append(job.number)
            if view.now >= other.earliest(other.FIRST):
                view.start(job)
        view.wake_at(view.now + 1)
"""

OTHER = """
import numba
import numpy as np

FIRST = {first}

@numba.njit
def earliest(first):
    return first{index} + {more}
"""


class Runs:
    """Runs of a scheduler of one file beside another, each a process of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        (folder / "mine.py").write_text(MINE)

    def __call__(
        self, first: Any = 5, more: int = 10, index: str = "", **parameters: Any
    ) -> tuple[Any, list[str]]:
        """What came of it, and which functions were compiled."""
        (self._folder / "other.py").write_text(OTHER.format(first=first, more=more, index=index))
        ended = subprocess.run(
            [sys.executable, "-c", PROGRAM, json.dumps(parameters)],
            cwd=self._folder,
            env=os.environ
            | {
                "SCHEDULER_SIM_CACHE_DIR": str(self._folder / "cache"),
                "PYTHONPATH": str(ROOT),
                "PYTHONDONTWRITEBYTECODE": "1",  # which Python takes for new if it is of the same second
            },
            stdout=subprocess.PIPE,
            check=True,
        )
        said, compiled = json.loads(ended.stdout.splitlines()[-1])
        return said, compiled


def test_a_second_process_compiles_nothing_and_bounds_stay_checked(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    said, found = runs()
    assert said == [15, 75]
    assert "Mine.schedule" in found
    assert runs(place=3) == ([15, 75], []), "a value of a parameter is none of the code"
    said, found = runs(place=4)
    assert said == "mine.py:15: Mine fails at 0 s, with job 1: IndexError: index is out of bounds"
    assert found == []


@pytest.mark.long
@pytest.mark.parametrize(
    ("changed", "starts"), [({"first": 6}, [16, 76]), ({"more": 11}, [16, 76]), ({"place": 1.0}, [15, 75])]
)
def test_what_is_compiled_again(changed: dict[str, Any], starts: list[int], tmp_path: Path) -> None:
    """A constant and a function of another file, the type of a parameter."""
    runs = Runs(tmp_path)
    assert runs()[0] == [15, 75]
    said, found = runs(**changed)
    assert said == starts
    assert "Mine.schedule" in found
    assert runs(**changed) == (starts, [])


@pytest.mark.long
def test_code_with_an_address_of_its_process_is_not_kept(tmp_path: Path) -> None:
    """The compiler does not copy a large array that is constant: it reads where that is."""
    runs = Runs(tmp_path)
    for _ in range(2):
        said, found = runs(first="np.full(200_000, 5)", more=10, index="[7]")
        assert said == [15, 75]
        assert "Mine.schedule" in found


# -- what tells one from another

SCHEDULER = """
class Mine:
    def schedule(self, view, {default}):
        for job in view.queue:
            if job.nodes > LIMIT and helper(job.nodes) > {constant}:
                view.start(job)
"""


def helper(nodes: int) -> int:
    return nodes + 1


def made(text: str = SCHEDULER, name: str = "Mine", **names: Any) -> str:
    """The identity of a class of a text, with such globals."""
    text = text.format(default=names.pop("default", "more=1"), constant=names.pop("constant", 2))
    file = names.pop("file", __file__)
    there = {"LIMIT": 3, "helper": numba.njit(helper), "__name__": "mine", **names}
    exec(compile(text, file, "exec"), there)
    return identity_of(name, _methods_of(there["Mine"]))


def module(**names: Any) -> ModuleType:
    found = ModuleType("other")
    vars(found).update(names)
    return found


def array(*numbers: float, order: Any = "C") -> np.ndarray:
    return np.array([numbers], dtype=np.float64, order=order)


def more(nodes: int) -> int:
    return nodes + 2


LAST = """
class Mine:
    def schedule(self, view):
        return helper(LIMIT)
"""


def test_the_same_is_the_same() -> None:
    assert made() == made() != ""
    assert made(unused=1) == made(unused=2)
    assert made(LIMIT=array(1, 2)) == made(LIMIT=array(1, 2)) != made()
    assert made(LAST, LIMIT=module(unused=1)) == made(LAST, LIMIT=module(unused=2)) != ""


@pytest.mark.parametrize(
    "changed",
    [
        {"LIMIT": 4},
        {"LIMIT": 3.0},
        {"LIMIT": True},
        {"LIMIT": (3, 4)},
        {"LIMIT": np.int32(3)},
        {"LIMIT": array(3)},
        {"constant": 3},
        {"constant": "2.0"},
        {"default": "more=2"},
        {"helper": numba.njit(more)},
        {"helper": numba.njit(error_model="numpy")(helper)},
        {"helper": numba.njit("int64(int64)")(helper)},
        {"text": "\n" + SCHEDULER},
        {"text": SCHEDULER.replace("> LIMIT", ">= LIMIT")},
        {"text": SCHEDULER + "\n    def on_end(self, view, job):\n        pass\n"},
        {"name": "Other"},
        {"file": needed.__file__},
        {"len": abs, "text": SCHEDULER.replace("> LIMIT", "> len(view.free)")},
    ],
)
def test_what_is_another(changed: dict[str, Any]) -> None:
    assert made(**changed) not in ("", made())


def test_arrays_are_told_apart_by_all_that_the_compiler_takes_from_them() -> None:
    several = [array(1, 2), array(1, 3), array(1, 2).T, array(1, 2).astype(np.float32), array(1, 2)[:, ::2]]
    assert len({made(LIMIT=one) for one in several}) == len(several)
    large = np.arange(12.0).reshape(3, 4)
    assert made(LIMIT=large) != made(LIMIT=np.asfortranarray(large))


@pytest.mark.parametrize(
    "text",
    ["other.FIRST", "getattr(other, 'FIRST')", "getattr(other, NAME)", "reads(other)", "other.inner.FIRST"],
)
def test_what_a_module_has_counts_wherever_it_is_read(text: str) -> None:
    def reads(handed_on: Any) -> int:
        return int(handed_on.FIRST)

    def with_first(value: int) -> str:
        other = module(FIRST=value, inner=module(FIRST=value))
        text_of_class = SCHEDULER.replace("> LIMIT", f"> {text}")
        return made(text_of_class, other=other, reads=numba.njit(reads), NAME="FIRST")

    assert with_first(1) == with_first(1) != with_first(2)


def test_what_a_closure_has_counts() -> None:
    def with_cell(value: int) -> str:
        def closed(nodes: int) -> int:
            return nodes + value

        return made(helper=numba.njit(closed))

    assert with_cell(1) == with_cell(1) != with_cell(2)


class Own:
    """Something of the user's."""


@pytest.mark.parametrize(
    "value",
    [
        [1, 2],
        {1: 2},
        Own,
        Own(),
        helper,
        (1, [2]),
        np.array([Own()]),
        np.zeros(2, dtype=[("a", "i8")]),
        numba.vectorize(["int64(int64)"])(helper),
        numba.objmode,
        module(nodes=[1]),
    ],
)
def test_what_cannot_be_told_apart_is_not_kept(value: Any) -> None:
    assert made(LIMIT=value) == ""


def test_what_stands_in_no_file_or_in_one_that_is_called_as_a_library_is_not_kept() -> None:
    assert made(file="<cell 1>") == ""
    assert (
        made(
            "import functools\n" + SCHEDULER.replace("    def", "    @functools.wraps(more)\n    def"),
            more=more,
        )
        == ""
    )
    assert made(__name__="heapq") == ""
    assert made(__name__="numpy") == ""


def test_functions_of_libraries_are_known_by_name() -> None:
    text = SCHEDULER.replace("> LIMIT", "> np.maximum(math.floor(LIMIT), np.int64(min(LIMIT, np.pi)))")
    import math

    known = made(text, np=np, math=math)
    assert known != ""
    assert made(text, np=np, math=module(floor=math.ceil)) not in ("", known)
    assert made(LIMIT=numba.int64) == made(LIMIT=numba.types.int64) not in ("", made(LIMIT=numba.int32))


def test_where_somebody_else_teaches_the_compiler_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = teachers.templates.builtin_registry
    for name in ("functions", "attributes", "globals"):
        monkeypatch.setattr(registry, name, list(getattr(registry, name)))
    assert made() != ""
    numba.extending.overload(helper)(lambda nodes: helper)
    assert made() == ""


def test_code_that_needs_what_is_not_there_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """LLVM would end the process."""
    monkeypatch.setattr(needed, "_needed_by", lambda machine: ["memcpy", "no_such_function"])
    assert not needed.finds_all(b"")
    monkeypatch.setattr(needed, "_needed_by", lambda machine: ["memcpy"])
    assert needed.finds_all(b"")
