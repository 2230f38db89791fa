"""Without Gymnasium the room says what is missing."""

from __future__ import annotations

import sys
from importlib import import_module

import pytest

from scheduler_sim.errors import SchedulerSimError


def test_it_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "gymnasium"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    monkeypatch.delitem(sys.modules, "scheduler_sim.gym", raising=False)
    with pytest.raises(SchedulerSimError, match=r"pip install 'scheduler-sim\[gym\]'"):
        import_module("scheduler_sim.gym")
