"""Run CQSim on a trace: CHECKOUT TRACE FOLDER POLICY CORES, its log and its monitor off.

By its own function, as its command line takes 0 for what was not given, and reads 8,000 jobs at most.
"""

import sys
from pathlib import Path

checkout, trace, folder, policy, cores = sys.argv[1:]
sys.path.insert(0, str(Path(checkout, "src")))

from cqsim_main import cqsim_main  # noqa: E402

nodes = Path(folder, "machine.swf")
nodes.write_text(f"; MaxNodes: {cores}\n; MaxProcs: {cores}\n", encoding="utf-8")
names = {"job_trace": trace, "job_save": "jobs", "node_struc": str(nodes), "node_save": "nodes"}
names |= {"path_in": "", "output": "result", "debug": "debug"}
names |= dict.fromkeys(("path_fmt", "path_out", "path_debug"), f"{folder}/")
names |= {"ext_fmt_j": ".csv", "ext_fmt_j_c": ".con", "ext_fmt_n": ".csv", "ext_fmt_n_c": ".con"}
names |= {"ext_si": ".ult", "ext_ai": ".adp", "ext_jr": ".rst", "ext_debug": ".log"}
numbers = {"start": 0.0, "read_num": -1, "anchor": 0, "cluster_fraction": 1.0, "read_input_freq": 1000}
quiet = {"debug_lvl": 0, "log_freq": 1000, "monitor": 0}
lists = {key: [] for key in ("ad_alg_para", "bf_para", "win_para", "ad_win_para")}
by_wait = {"alg": ["w"], "alg_sign": [0], "win": 0, "backfill": int(policy == "easy")}
cqsim_main(names | numbers | quiet | lists | by_wait)
