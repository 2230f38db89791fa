"""Compiled methods that write down where they are: what fails in them is told with the user's line."""

from __future__ import annotations

import ast
import inspect
from textwrap import dedent
from types import FunctionType
from typing import Any

AT_LINE = "at_line"
"""A method that a view has where it is compiled: it keeps a number."""


def telling(method: FunctionType, *, sees: bool) -> FunctionType:
    """Return a method that tells its view the line of each statement before it is carried out.

    Itself, where it has no view, or its source is not known.

    Parameters
    ----------
    sees : whether its second argument is the view; else it is, if it is called so
    """
    try:
        source = dedent(inspect.getsource(method))
    except (OSError, TypeError):
        return method
    [made, *_] = ast.parse(source).body
    names = [one.arg for one in made.args.args] if isinstance(made, ast.FunctionDef) else []
    if method.__closure__ or not names[1:] or not (sees or names[1] == "view"):
        return method
    made.decorator_list = []  # type: ignore[attr-defined]
    ast.increment_lineno(made, method.__code__.co_firstlineno - 1)
    _Marking(names[1]).visit(made)
    tree = ast.fix_missing_locations(ast.Module([made], []))
    space: dict[str, Any] = {}
    exec(compile(tree, method.__code__.co_filename, "exec"), method.__globals__, space)
    told: FunctionType = space[method.__name__]
    told.__defaults__, told.__kwdefaults__ = method.__defaults__, method.__kwdefaults__
    told.__qualname__ = method.__qualname__
    return told


class _Marking(ast.NodeVisitor):
    """Puts a mark before each statement, and at the end of a loop that begins with a test."""

    def __init__(self, view: str) -> None:
        self._view = view

    def generic_visit(self, node: ast.AST) -> None:
        super().generic_visit(node)
        for name in ("body", "orelse"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block:
                setattr(node, name, [one for each in block for one in (self._mark(each.lineno), each)])
        if isinstance(node, ast.While):
            node.body.append(self._mark(node.lineno))

    def _mark(self, line: int) -> ast.Expr:
        told = ast.Attribute(ast.Name(self._view, ast.Load()), AT_LINE, ast.Load())
        return ast.Expr(ast.Call(told, [ast.Constant(line)], []), lineno=line, col_offset=0)
