"""Extra-P's JSON formats and the lines of Talpas: the same points as its text, and what can be wrong."""

from __future__ import annotations

import json

import pytest

from scheduler_sim.errors import ConfigError
from scheduler_sim.scaling.fitting import read_points

TEXT = """\
PARAMETER p n
POINTS (8 100) (16 100) (8 200)
METRIC time
REGION main->solve
DATA 2.5 2.6
DATA 1.5
DATA 5
REGION main->io
DATA 1
DATA 1.25
DATA 1
METRIC visits
REGION main->io
DATA 3
DATA 3
DATA 4
"""
POINTS = ((8, 100), (16, 100), (8, 200))
VALUES = {
    ("main->solve", "time"): ([2.5, 2.6], [1.5], [5]),
    ("main->io", "time"): ([1], [1.25], [1]),
    ("main->io", "visits"): ([3], [3], [4]),
}


def by_names():
    measurements: dict = {}
    for (callpath, metric), values in VALUES.items():
        rows = [{"point": list(at), "values": one} for at, one in zip(POINTS, values, strict=True)]
        measurements.setdefault(callpath, {})[metric] = rows
    return {"parameters": ["p", "n"], "measurements": measurements}


def by_ids():
    """Ids that are no places, and pairs in another order."""
    callpaths, metrics = {"main->solve": 7, "main->io": 3}, {"time": 2, "visits": 1}
    rows = [
        {"id": 0, "callpath_id": callpaths[c], "metric_id": metrics[m], "coordinate_id": 10 + k, "value": v}
        for (c, m), values in VALUES.items()
        for k, one in enumerate(values)
        for v in one
    ]
    pairs = [
        [{"parameter_id": 2, "parameter_value": n}, {"parameter_id": 1, "parameter_value": p}]
        for p, n in POINTS
    ]
    return {
        "parameters": [{"id": 2, "name": "n"}, {"id": 1, "name": "p"}],
        "callpaths": [{"id": i, "name": name} for name, i in callpaths.items()],
        "metrics": [{"id": i, "name": name} for name, i in metrics.items()],
        "coordinates": [{"id": 10 + k, "parameter_value_pairs": pair} for k, pair in enumerate(pairs)],
        "measurements": rows,
    }


def talpas():
    return "".join(
        f'{{"parameters":{{"p":{p};"n":{n}}};"metric":"{metric}";"callpath":"{callpath}";"value":{value}}}\n'
        for (callpath, metric), values in VALUES.items()
        for (p, n), one in zip(POINTS, values, strict=True)
        for value in one
    )


def lines():
    return "".join(
        json.dumps({"params": {"p": p, "n": n}, "callpath": callpath, "metric": metric, "value": one}) + "\n"
        for (callpath, metric), values in VALUES.items()
        for (p, n), one in zip(POINTS, values, strict=True)
    )


FORMATS = {
    "a.json": json.dumps(by_names()),
    "b.json": json.dumps(by_ids(), indent=2),
    "c.dat": json.dumps(by_names(), indent=1),
    "d.txt": talpas(),
    "e.jsonl": lines(),
}


@pytest.mark.parametrize("name", FORMATS)
def test_all_formats_hold_the_same_points(name, tmp_path):
    (tmp_path / "points.txt").write_text(TEXT)
    (tmp_path / name).write_text(FORMATS[name])
    one, other = read_points(tmp_path / "points.txt"), read_points(tmp_path / name)
    assert other.parameters == one.parameters == ("processes", "size")
    assert list(other.times) == list(one.times) == ["main->solve", "main->io"]
    for callpath, series in one.times.items():
        assert other.times[callpath].sample.points.tolist() == series.sample.points.tolist()
        assert other.times[callpath].sample.values.tolist() == series.sample.values.tolist()
    assert other.notes == one.notes


def test_semicolons_inside_names_stay(tmp_path):
    line = '{"parameters":{"p":4};"metric":"time";"callpath":"a;b";"value":2}\n'
    (tmp_path / "t.txt").write_text(line)
    assert list(read_points(tmp_path / "t.txt").times) == ["a;b"]


def changed(made, *where, to):
    place = made
    for step in where[:-1]:
        place = place[step]
    if to is None:
        del place[where[-1]]
    else:
        place[where[-1]] = to
    return json.dumps(made, indent=1)


ROW = ("measurements", "main->solve", "time", 1)
WRONG = {
    "not json": ('{\n"a": 1,\n', ":3: not valid JSON"),
    "a list": ("[1]", "the file: found [1]; allowed"),
    "no parameters": (changed(by_names(), "parameters", to=None), ":1: parameters: missing; allowed"),
    "a number as name": (
        changed(by_names(), "parameters", 1, to=3),
        ":4: parameters.1: found 3; allowed: a name",
    ),
    "no measurements": (changed(by_names(), "measurements", to={}), ": measurements: found {}; allowed"),
    "a short point": (
        changed(by_names(), *ROW, "point", to=[8]),
        ":20: measurements.main->solve.time.1.point: found [8]; allowed: a list of numbers, one a",
    ),
    "no values": (changed(by_names(), *ROW, "values", to=[]), "main->solve.time.1.values: found []; allowed"),
    "text as value": (
        changed(by_names(), *ROW, "values", 0, to="x"),
        "main->solve.time.1.values.0: found 'x'; allowed: a number",
    ),
    "a value of 0": (
        changed(by_names(), *ROW, "values", 0, to=0),
        ":25: main->solve: found 0 at 16 processes",
    ),
    "an unknown call path": (
        changed(by_ids(), "measurements", 2, "callpath_id", to=9),
        "measurements.2.callpath_id: found 9; allowed: an id of callpaths",
    ),
    "an id twice": (changed(by_ids(), "metrics", 1, "id", to=2), "metrics.1: found {"),
    "a value missing of a point": (
        changed(by_ids(), "coordinates", 0, "parameter_value_pairs", 0, to=None),
        "coordinates.0.parameter_value_pairs: found [{",
    ),
    "no value": (changed(by_ids(), "measurements", 0, "value", to=None), "measurements.0.value: missing"),
}


@pytest.mark.parametrize("case", WRONG)
def test_mistakes_are_told_with_file_line_and_field(case, tmp_path):
    text, said = WRONG[case]
    (tmp_path / "points.json").write_text(text)
    with pytest.raises(ConfigError) as told:
        read_points(tmp_path / "points.json")
    assert said in str(told.value)
    assert str(told.value).startswith(str(tmp_path / "points.json"))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"parameters":{"p":4};"metric":"time";"value":2}', ":2: callpath: missing; allowed: a name"),
        ('{"parameters":{"q":4};"metric":"t";"callpath":"a";"value":2}', ":2: parameters: found {'q': 4}"),
        ('{"parameters":{"p":"4"};"metric":"t";"callpath":"a";"value":2}', ":2: parameters.p: found '4'"),
        ('{"parameters":{"p":4};"metric":"t";"callpath":"a";"value":true}', ":2: value: found True"),
        ('{"parameters":{"p":4};"metric"', ':2: found \'{"parameters"'),
        ("7", ":2: the file: found 7"),
        ('{"parameters":{"p":0};"metric":"time";"callpath":"a";"value":2}', ":2: a: found 0 processes"),
    ],
)
def test_mistakes_in_talpas(line, said, tmp_path):
    (tmp_path / "t.txt").write_text(
        f'{{"parameters":{{"p":4}};"metric":"time";"callpath":"a";"value":2}}\n{line}\n'
    )
    with pytest.raises(ConfigError) as told:
        read_points(tmp_path / "t.txt")
    assert said in str(told.value)
