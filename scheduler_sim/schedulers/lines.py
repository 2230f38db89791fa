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

    Itself, where it has no view, or its source is not known or says something else by now.

    Parameters
    ----------
    sees : whether its second argument is the view; else it is, if it is called so
    """
    try:
        [made, *_] = ast.parse(dedent(inspect.getsource(method))).body
    except (OSError, TypeError, SyntaxError):
        return method
    if not isinstance(made, ast.FunctionDef) or method.__closure__:
        return method
    names = [one.arg for one in made.args.args]
    if not names[1:] or not (sees or names[1] == "view"):
        return method
    _leave_code_alone(made)
    ast.increment_lineno(made, method.__code__.co_firstlineno - 1)
    if _essence(_made(made, method)) != _essence(method):
        return method
    _Marking(names[1]).visit(made)
    return _made(made, method)


def _leave_code_alone(made: ast.FunctionDef) -> None:
    """Take away what is evaluated where a function is defined: there names may be known that are not here."""
    made.decorator_list, made.returns = [], None
    made.args.defaults, made.args.kw_defaults = [], [None for _ in made.args.kwonlyargs]
    for one in (*made.args.posonlyargs, *made.args.args, *made.args.kwonlyargs):
        one.annotation = None


def _made(tree: ast.stmt, like: FunctionType) -> FunctionType:
    """Return the function that a definition defines in the place of another."""
    module, space = ast.fix_missing_locations(ast.Module([tree], [])), dict[str, Any]()
    exec(compile(module, like.__code__.co_filename, "exec", dont_inherit=True), like.__globals__, space)
    made: FunctionType = space[like.__name__]
    made.__defaults__, made.__kwdefaults__ = like.__defaults__, like.__kwdefaults__
    made.__qualname__ = like.__qualname__
    return made


def _essence(function: FunctionType) -> tuple[Any, ...]:
    code = function.__code__
    return code.co_code, code.co_names, code.co_varnames


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
