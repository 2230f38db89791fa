"""Variables of a function that may be used before they are assigned: to Numba they are 0 then."""

from __future__ import annotations

from typing import Any

from numba.core import ir


def maybe_unassigned(blocks: Any) -> set[str]:
    """Return the names of variables that may not have been assigned where they are used.

    Parameters
    ----------
    blocks : Numba's, by their place
    """
    assignments = [one for block in blocks.values() for one in block.find_insts(ir.Assign)]
    found = {one.target.name for one in assignments if is_nothing(one)}
    copies = [(one.value.name, one.target.name) for one in assignments if is_same_variable(one)]
    while more := {target for source, target in copies if source in found} - found:
        found |= more
    return found


def is_nothing(assignment: Any) -> bool:
    """Whether Numba says by an assignment that a variable has no value yet."""
    return isinstance(assignment.value, ir.Expr) and assignment.value.op in ("null", "undef")


def is_same_variable(assignment: Any) -> bool:
    """Whether an assignment is none of the user's: Numba has several variables for one."""
    source = assignment.value
    return isinstance(source, ir.Var) and source.unversioned_name == assignment.target.unversioned_name
