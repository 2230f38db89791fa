"""Extra-P beside ours, in an interpreter of its own: cases on standard input, predictions on standard output.

Run by ``benchmarks.extrapolation`` with the interpreter that has Extra-P; it imports nothing of this project.
A line in: ``{"points": [[64, 1e6], ...], "values": [[1.0, 1.1], ...], "at": [[1024, 1e6], ...]}``, a
line out: the predictions. Its default modelers, on the mean of repetitions, which is its default.
"""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any


def predicted(case: dict[str, Any]) -> list[float]:
    """Return what Extra-P predicts from the points of one case."""
    from extrap.entities.callpath import Callpath  # type: ignore[import-not-found]
    from extrap.entities.coordinate import Coordinate  # type: ignore[import-not-found]
    from extrap.entities.experiment import Experiment  # type: ignore[import-not-found]
    from extrap.entities.measurement import Measurement  # type: ignore[import-not-found]
    from extrap.entities.metric import Metric  # type: ignore[import-not-found]
    from extrap.entities.parameter import Parameter  # type: ignore[import-not-found]
    from extrap.modelers.model_generator import ModelGenerator  # type: ignore[import-not-found]

    experiment, callpath, metric = Experiment(), Callpath("main"), Metric("time")
    for number in range(len(case["points"][0])):
        experiment.add_parameter(Parameter(f"x{number}"))
    experiment.add_callpath(callpath)
    experiment.add_metric(metric)
    for point, values in zip(case["points"], case["values"], strict=True):
        coordinate = Coordinate(*point)
        experiment.add_coordinate(coordinate)
        experiment.add_measurement(Measurement(coordinate, callpath, metric, values))
    generator = ModelGenerator(experiment)
    generator.model_all()
    function = generator.models[callpath, metric].hypothesis.function
    return [float(function.evaluate(at[0] if len(at) == 1 else at)) for at in case["at"]]


def main() -> None:
    """Answer every case; the first line names the version."""
    import extrap  # type: ignore[import-not-found]

    warnings.simplefilter("ignore")
    print(json.dumps(extrap.__version__), flush=True)
    for line in sys.stdin:
        print(json.dumps(predicted(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
