"""Python files of the user's, and what stands in them."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from scheduler_sim.errors import ConfigError


def load(path: Path, name: str, key: str) -> Callable[..., Any]:
    """Return a function or class of a file.

    Raises ConfigError for a file that is not there or fails, and for a name that it does not have; it names
    ``key``, that of the policy.
    """
    module = _module(path, key)
    if not callable(getattr(module, name, None)):
        what = "class" if key == "scheduler" else "function"
        found = ", ".join(schedulers_in(path)) if key == "scheduler" else ""
        there = f"; there: {found}" if found else ""
        raise ConfigError(f"policy.{key}: {path} has no {what} {name!r}{there}")
    loaded: Callable[..., Any] = getattr(module, name)
    return loaded


def refuse_without_name(written: str | Path, folder: Path) -> NoReturn:
    """Say how a scheduler is written of which only the file was. Raises ConfigError."""
    path = folder / written
    if not os.path.isfile(path):
        raise ConfigError(f"policy {str(written)!r}: no such file: {path}")
    found = schedulers_in(path)
    if not found:
        raise ConfigError(f"policy {str(written)!r}: {path} has no class with a method schedule(self, view)")
    ways = ", ".join(f"{written}:{name}" for name in found)
    raise ConfigError(
        f"policy {str(written)!r}: a Python file without the name of a class; allowed here: {ways}"
    )


def schedulers_in(path: Path) -> list[str]:
    """Return the names of a file's classes that have a method ``schedule``, or may inherit one, in order.

    The file is not carried out. Raises ConfigError for one that is not Python.
    """
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError) as error:
        raise ConfigError(f"{path}: not valid Python: {error}") from None
    classes = [one for one in tree.body if isinstance(one, ast.ClassDef)]
    return [one.name for one in classes if one.bases or "schedule" in map(_name, one.body)]


def _name(statement: ast.stmt) -> str:
    return statement.name if isinstance(statement, ast.FunctionDef) else ""


def _module(path: Path, key: str) -> ModuleType:
    spec = spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not os.path.isfile(path):
        raise ConfigError(f"policy.{key}: no such Python file: {path}")
    module = module_from_spec(spec)
    sys.path.insert(0, str(path.parent.absolute()))  # what stands beside it can be imported
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # whatever the user's file raises
        raise ConfigError(f"policy.{key}: {path} fails: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(str(path.parent.absolute()))
    return module
