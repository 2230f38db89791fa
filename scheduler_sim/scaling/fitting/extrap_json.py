"""Extra-P's two JSON formats, and the lines of Talpas."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from scheduler_sim.config.problem import Location, listed
from scheduler_sim.config.yaml_file import read_yaml
from scheduler_sim.errors import ConfigError
from scheduler_sim.scaling.fitting.extrap_files import Measurement, Measurements

TEXT_OR_SEMICOLON = re.compile(r'"(?:\\.|[^"\\])*"|;')
"""Talpas has semicolons where JSON has commas; those inside names stay."""

NEW = '{"parameters": ["p"], "measurements": {CALLPATH: {METRIC: [{"point": [64], "values": [1.5]}]}}}'
TALPAS = (
    '{"parameters":{"p":64};"metric":"time";"callpath":"main";"value":1.5}, the same parameters on each line'
)


class _Wrong(Exception):
    """Something that stands in the file is not what may stand there."""

    def __init__(self, where: Location, value: object, allowed: str) -> None:
        found = "missing" if value is None else f"found {value!r:.40}"
        super().__init__(f"{'.'.join(map(str, where)) or 'the file'}: {found}; allowed: {allowed}")
        self.where = where


def read_json(path: Path, text: str) -> Measurements:
    """Read ``parameters`` and ``measurements`` by call path and metric, or the older format, by ids.

    Raises ConfigError with the line and the field of the first thing that is wrong.
    """
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise ConfigError(f"{path}:{error.lineno}: not valid JSON: {error.msg}") from None
    except RecursionError:
        raise ConfigError(f"{path}: not valid JSON: nested too deep") from None
    try:
        if not isinstance(data, dict):
            raise _Wrong((), data, NEW)
        read = _by_ids(data) if "callpaths" in data else _by_names(data)
        if not read.found:
            raise _Wrong(("measurements",), [], NEW)
    except _Wrong as error:
        raise ConfigError(f"{place(path, error.where)}: {error}") from None
    return read


def place(path: Path, where: Location) -> str:
    """Return ``file:line`` of a field of a JSON file, which is YAML, too; the file alone where it is not."""
    try:
        return read_yaml(path).place(where)
    except ConfigError:
        return str(path)


def _by_names(data: Mapping[str, Any]) -> Measurements:
    names = _list(data, ("parameters",), "names of parameters")
    for i, name in enumerate(names):
        if not isinstance(name, str):
            raise _Wrong(("parameters", i), name, "a name")
    found = []
    for callpath, metrics in _mapping(data, ("measurements",), NEW).items():
        where: Location = ("measurements", callpath)
        if not isinstance(metrics, dict):
            raise _Wrong(where, metrics, "metrics by name")
        for metric in metrics:
            rows = _list(metrics, (*where, metric), 'a list of {"point": [...], "values": [...]}')
            for i, row in enumerate(rows):
                here = (*where, metric, i)
                if not isinstance(row, dict):
                    raise _Wrong(here, row, '{"point": [...], "values": [...]}')
                at = _numbers(row, (*here, "point"), len(names))
                values = _numbers(row, (*here, "values"))
                found += [
                    Measurement(0, callpath, metric, at, value, (*here, "values", k))
                    for k, value in enumerate(values)
                ]
    return Measurements(tuple(names), found)


def _by_ids(data: Mapping[str, Any]) -> Measurements:
    parameters, callpaths, metrics = (
        _ids(data, name, lambda row, where: _text(row, (*where, "name")))
        for name in ("parameters", "callpaths", "metrics")
    )

    def point(row: Mapping[str, Any], where: Location) -> tuple[float, ...]:
        pairs = _list(row, (*where, "parameter_value_pairs"), "a pair of id and value for each parameter")
        read = {}
        for i, pair in enumerate(pairs):
            here = (*where, "parameter_value_pairs", i)
            if not isinstance(pair, dict) or pair.get("parameter_id") not in parameters:
                raise _Wrong(here, pair, f"parameter_id of {', '.join(map(str, parameters))}")
            read[pair["parameter_id"]] = _number(pair.get("parameter_value"), (*here, "parameter_value"))
        if set(read) != set(parameters):
            raise _Wrong((*where, "parameter_value_pairs"), pairs, "a value for each parameter")
        return tuple(read[one] for one in parameters)

    coordinates = _ids(data, "coordinates", point)
    found = []
    for i, row in enumerate(_list(data, ("measurements",), "a list of measurements")):
        where: Location = ("measurements", i)
        if not isinstance(row, dict):
            raise _Wrong(where, row, "callpath_id, metric_id, coordinate_id and value")
        for name, known in (("callpath", callpaths), ("metric", metrics), ("coordinate", coordinates)):
            if row.get(f"{name}_id") not in known:
                raise _Wrong((*where, f"{name}_id"), row.get(f"{name}_id"), f"an id of {name}s")
        value = _number(row.get("value"), (*where, "value"))
        callpath, metric = callpaths[row["callpath_id"]], metrics[row["metric_id"]]
        found.append(
            Measurement(0, callpath, metric, coordinates[row["coordinate_id"]], value, (*where, "value"))
        )
    return Measurements(tuple(parameters.values()), found)


def _ids(
    data: Mapping[str, Any], name: str, read: Callable[[Mapping[str, Any], Location], Any]
) -> dict[int, Any]:
    """Return what is listed under a name by id, ids rising."""
    found = {}
    for i, row in enumerate(_list(data, (name,), f"a list of {name} with ids")):
        identity = row.get("id") if isinstance(row, dict) else None
        if not isinstance(identity, int) or isinstance(identity, bool) or identity in found:
            raise _Wrong((name, i), row, "a mapping with an id of its own, an integer")
        found[identity] = read(row, (name, i))
    return dict(sorted(found.items()))


def _mapping(data: Mapping[str, Any], where: Location, allowed: str) -> dict[str, Any]:
    value = data.get(str(where[-1]))
    if not isinstance(value, dict) or not value:
        raise _Wrong(where, value, allowed)
    return value


def _list(data: Mapping[str, Any], where: Location, allowed: str) -> list[Any]:
    value = data.get(str(where[-1]))
    if not isinstance(value, list) or not value:
        raise _Wrong(where, value, allowed)
    return value


def _text(data: Mapping[str, Any], where: Location) -> str:
    value = data.get(str(where[-1]))
    if not isinstance(value, str):
        raise _Wrong(where, value, "a name")
    return value


def _numbers(data: Mapping[str, Any], where: Location, number: int | None = None) -> tuple[float, ...]:
    allowed = "a list of numbers" if number is None else f"a list of numbers, one a parameter: {number}"
    values = _list(data, where, allowed)
    if number is not None and len(values) != number:
        raise _Wrong(where, values, allowed)
    return tuple(_number(value, (*where, k)) for k, value in enumerate(values))


def _number(value: object, where: Location) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _Wrong(where, value, "a number")
    try:
        return float(value)
    except OverflowError:
        raise _Wrong(where, value, "a number") from None


def read_talpas(path: Path, text: str) -> Measurements:
    """Read a measurement a line. Raises ConfigError with every problem."""
    problems: list[str] = []
    found: list[Measurement] = []
    parameters: tuple[str, ...] = ()
    for at, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            said = json.loads(TEXT_OR_SEMICOLON.sub(lambda part: "," if part[0] == ";" else part[0], line))
            if not isinstance(said, dict):
                raise _Wrong((), said, TALPAS)
            given = _mapping(said, ("parameters",), 'parameters by name, as {"p": 64}')
            parameters = parameters or tuple(given)
            if set(given) != set(parameters):
                raise _Wrong(("parameters",), given, f"{', '.join(parameters)}, as on the lines before")
            point = tuple(_number(given[name], ("parameters", name)) for name in parameters)
            callpath, metric = (_text(said, (name,)) for name in ("callpath", "metric"))
            found.append(Measurement(at, callpath, metric, point, _number(said.get("value"), ("value",))))
        except _Wrong as error:
            problems.append(f"{path}:{at}: {error}")
        except (ValueError, RecursionError):
            problems.append(f"{path}:{at}: found {line.strip()!r:.60}; allowed: {TALPAS}")
    if problems:
        raise ConfigError(listed(problems))
    return Measurements(parameters, found)
