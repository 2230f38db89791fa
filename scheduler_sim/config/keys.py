"""A mapping checked against a model of its keys, with every problem found at once."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, model_validator

from scheduler_sim.config.problem import MOST_LISTED, Location, Problem, found, one_of
from scheduler_sim.config.value import Check


class Keys(BaseModel):
    """The keys of one mapping. Unknown keys are errors; a key without a value is as if absent."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    @model_validator(mode="before")
    @classmethod
    def _drop_empty(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        return {key: value for key, value in data.items() if value is not None or key not in cls.model_fields}


Model = TypeVar("Model", bound=Keys)


def check_keys(model: type[Model], data: Any) -> tuple[Model | None, list[Problem]]:
    """Validate data against a model: the model filled in, or None and all problems."""
    try:
        return model.model_validate(data), []
    except ValidationError as error:
        return None, list(_problems(model, error))


def _problems(model: type[Keys], error: ValidationError) -> Iterator[Problem]:
    for entry in error.errors(include_url=False):
        kind, written = entry["type"], entry["input"]
        where = tuple(step if isinstance(step, int) else str(step) for step in entry["loc"])
        if kind in ("extra_forbidden", "invalid_key"):
            parent = _annotation(model, where[:-1])
            words = list(parent.model_fields) if _is_model(parent) else []
            yield Problem(where, f"unknown key; {one_of(words, where[-1])}")
        elif kind == "missing":
            yield Problem(where, f"missing; allowed: {_allowed(model, where)}")
        elif kind == "allowed":
            yield Problem(where, f"{found(written)}; allowed: {entry['msg']}")
        else:
            allowed = _allowed(model, where) or entry["msg"]
            yield Problem(where, f"{found(written)}; allowed: {allowed}")


def nested(annotation: Any) -> tuple[type[Keys] | None, str]:
    """Return the mapping inside a type, and ``[]`` or ``.<name>`` where there are several; else None."""
    kind = _bare(annotation)
    if _is_model(kind):
        return kind, ""
    inner = get_args(kind)
    if get_origin(kind) is list and _is_model(_bare(inner[0])):
        return _bare(inner[0]), "[]"
    if get_origin(kind) is dict and _is_model(_bare(inner[1])):
        return _bare(inner[1]), ".<name>"
    return None, ""


def words_for(model: type[Keys], name: str) -> str:
    """Say in words what a key may hold."""
    return _allowed(model, (name,))


def checks_of(model: type[Keys], name: str) -> list[Check]:
    """Return what checks the value of a key."""
    return _checks(model, (name,))


def _checks(model: type[Keys], where: Location) -> list[Check]:
    parts = (part.func for part in _metadata(model, where) if isinstance(part, BeforeValidator))
    return [check for check in parts if isinstance(check, Check)]


def _allowed(model: type[Keys], where: Location) -> str:
    """Say in words what may stand at a location."""
    annotation = _annotation(model, where)
    if _is_model(annotation):
        names = list(annotation.model_fields)
        more = f" ... and {len(names) - 5} more" if len(names) > MOST_LISTED else ""
        return f"a mapping with the keys {', '.join(names[:5] if more else names)}{more}"
    said = next((check.allowed for check in _checks(model, where)), "")
    if not said and get_origin(annotation) in (list, tuple):
        return "a list"
    if not said and get_origin(annotation) is dict:
        return "a mapping of names to values"
    return said


def _annotation(model: type[Keys], where: Location) -> Any:
    """Follow keys and positions through the types of a model; None where they lead nowhere."""
    here: Any = model
    for step in where:
        if _is_model(here):
            info = here.model_fields.get(str(step))
            here = info.annotation if info else None
        else:
            inner = get_args(here)
            here = (inner[1] if get_origin(here) is dict else inner[0]) if inner else None
        here = _bare(here)
    return here


def _bare(annotation: Any) -> Any:
    """Strip Annotated, and the None of an optional type; of several types the first counts."""
    return kinds_of(annotation)[0]


def kinds_of(annotation: Any) -> list[Any]:
    """Return the types that a value may have, None left out."""
    if get_origin(annotation) is Annotated:
        return kinds_of(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        return [kind for one in get_args(annotation) if one is not type(None) for kind in kinds_of(one)]
    return [annotation]


def _metadata(model: type[Keys], where: Location) -> list[Any]:
    parent = _annotation(model, where[:-1])
    if not where or not _is_model(parent):
        return []
    info = parent.model_fields.get(str(where[-1]))
    if info is None or info.metadata:
        return list(info.metadata) if info else []
    optional = get_origin(info.annotation) in (Union, types.UnionType)
    kinds = get_args(info.annotation) if optional else ()  # there the checks stand with the type
    return [part for kind in kinds for part in getattr(kind, "__metadata__", ())]


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Keys)
