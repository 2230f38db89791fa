"""Run AccaSim on a trace, on one node with so many cores: its Python TRACE FOLDER POLICY CORES.

It imports ``Mapping`` from ``collections``, which has not been there since Python 3.10.
"""

import collections
import collections.abc
import json
import sys
from pathlib import Path

if not hasattr(collections, "Mapping"):
    collections.Mapping = collections.abc.Mapping

from accasim.base.allocator_class import FirstFit
from accasim.base.scheduler_class import EASYBackfilling, FirstInFirstOut
from accasim.base.simulator_class import Simulator

trace, folder, policy, cores = sys.argv[1:]
system = Path(folder, "system.json")
groups = {"node": {"core": int(cores)}}
equivalence = {"processor": {"core": 1}}
keys = {"groups": groups, "resources": {"node": 1}, "equivalence": equivalence, "start_time": 0}
system.write_text(json.dumps(keys), encoding="utf-8")
dispatcher = {"fcfs": FirstInFirstOut, "easy": EASYBackfilling}[policy](FirstFit())
quiet = {"statistics_output": False, "show_statistics": False, "LOG_LEVEL": "WARNING"}
Simulator(trace, str(system), dispatcher, RESULTS_FOLDER_PATH=folder, **quiet).start_simulation()
