"""What must hold in any schedule, tested from the tables and the case alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator

from tests.fuzz.rules.plays import FoundError
from tests.fuzz.rules.tables import Piece, Tables, numbers, require_at_most

STATES = {"COMPLETED", "TIMEOUT", "FAILED", "PREEMPTED", "REJECTED", "PENDING", "CANCELLED"}
OPERATED = {"cancel", "hold", "release", "requeue", "fail", "update", "submit"}
"""Operations after which a job may start or end as no rule of its own says."""


def audit(of: Tables) -> None:
    """Raise FoundError for the first law that is broken."""
    for law in LAWS:
        law(of)


def nobody_is_lost(of: Tables) -> None:
    if sorted(of.by_id) != sorted(of.ids) or len(of.rows) != len(of.ids):
        raise FoundError("components", f"{sorted(of.by_id)} for {sorted(of.ids)}")
    if of.metrics["jobs"] != len(of.ids):
        raise FoundError("components", f"{of.metrics['jobs']} jobs in the metrics")


def time_goes_forward(of: Tables) -> None:
    for row in of.rows:
        name = row["component_id"]
        if row["state"] not in STATES:
            raise FoundError("state", f"{name}: {row['state']}")
        if row["start_time"] < 0:
            continue
        times = [row[column] for column in ("submit_time", "eligible_time", "start_time", "end_time")]
        if times != sorted(times):
            raise FoundError("order of times", f"{name}: {times}")
        waits = [row[f"wait_{why}"] for why in ("dependency", "priority", "resources")]
        if min(waits) < 0:
            raise FoundError("negative wait", f"{name}: {waits}")
        if sum(waits) != row["start_time"] - row["submit_time"]:
            raise FoundError("sum of waits", f"{name}: {waits}")


def runs_follow_each_other(of: Tables) -> None:
    """Runs of a component are numbered, do not overlap, and the last is in the table of components."""
    by_component = defaultdict(list)
    for run in of.lost:
        by_component[run["component_id"]].append(run)
    for name, runs in by_component.items():
        if [run["run"] for run in runs] != list(range(1, len(runs) + 1)):
            raise FoundError("runs", f"{name}: numbers {[run['run'] for run in runs]}")
        times = [time for run in runs for time in (run["start_time"], run["end_time"])]
        if times != sorted(times):
            raise FoundError("runs", f"{name}: times {times}")
        row, last = of.by_id[name], runs[-1]
        if row["start_time"] >= 0 and (row["start_time"], row["end_time"]) != (*times[-2:],):
            raise FoundError("runs", f"{name}: last run {times[-2:]}, in components {row['start_time']}")
        for run in runs:
            if not 0 <= run["lost_s"] <= run["end_time"] - run["start_time"]:
                raise FoundError("runs", f"{name}: lost {run['lost_s']} s of run {run['run']}")
        if last["lost_s"] and last["state"] not in ("NODE_FAIL", "PREEMPTED", "REQUEUED"):
            raise FoundError("runs", f"{name}: {last['lost_s']} s lost of a run that was {last['state']}")


def modules_have_room(of: Tables) -> None:
    for name, module in of.modules.items():
        if not module.get("shared") and not (of.takes_turns and _unknown_turns(of)):
            uses = [(p.start, p.end, p.row["nodes"]) for p in of.pieces if p.row["module"] == name]
            require_at_most("nodes of a module", name, uses, module["nodes"])


def _unknown_turns(of: Tables) -> bool:
    """Whether a lost run may have been suspended, of which no table tells the time."""
    return bool(of.lost) and "suspended" not in of.lost[0]


def nodes_have_room(of: Tables) -> None:
    """No node has two exclusive jobs, or more cores, memory and GPUs at work than it has."""
    if "node_list" not in of.components.columns:
        return
    on_node = defaultdict(list)
    for piece in of.pieces:
        if piece.is_last and piece.row["nodes"] and piece.row["node_list"]:
            module = of.modules[piece.row["module"]]
            nodes = numbers(piece.row["node_list"])
            if (
                len(nodes) != piece.row["nodes"]
                or len(set(nodes)) != len(nodes)
                or max(nodes) >= module["nodes"]
            ):
                raise FoundError("node list", f"{piece.row['component_id']}: {piece.row['node_list']}")
            for node in nodes:
                on_node[module["name"], node].append(piece)
    for (name, node), pieces in on_node.items():
        module, what = of.modules[name], f"node {node} of {name}"
        if of.takes_turns:
            continue
        whole = [p for p in pieces if p.row.get("exclusive", 1) or not module.get("shared")]
        require_at_most("node used twice", what, [(p.start, p.end, 1) for p in whole], 1)
        for one in whole:
            others = [p for p in pieces if p.row["component_id"] != one.row["component_id"]]
            if any(p.start < one.end and one.start < p.end and p.start < p.end for p in others):
                raise FoundError("node used twice", f"{what}: beside {one.row['component_id']}")
        if module.get("shared"):
            even = [p for p in pieces if not (p.row["exclusive"] or p.row.get("node_shares"))]
            uses = [(p.start, p.end, p.row["cores"] / p.row["nodes"]) for p in even]
            sets = module.get("node_sets", [])
            most = max([module["cores_per_node"], *(one.get("cores_per_node", 0) for one in sets)])
            require_at_most("cores of a node", what, uses, most)


def parts_have_room(of: Tables) -> None:
    """The cores, the memory and the GPUs of a module that jobs share."""
    for name, module in of.modules.items():
        if not module.get("shared") or of.takes_turns or "cores" not in of.components.columns:
            continue
        pieces = [p for p in of.pieces if p.is_last and p.row["module"] == name]
        sets = module.get("node_sets") or [module]
        cores = sum(one["nodes"] * one.get("cores_per_node", module["cores_per_node"]) for one in sets)
        require_at_most("cores of a module", name, [(p.start, p.end, p.row["cores"]) for p in pieces], cores)
        if "gpus_per_node" in module:
            gpus = module["gpus_per_node"] * module["nodes"]
            require_at_most("GPUs of a module", name, [(p.start, p.end, p.row["gpus"]) for p in pieces], gpus)
        if "memory_gb" in module:
            memory = module["memory_gb"] * module["nodes"] << 20
            uses = [(p.start, p.end, p.row["memory_kb"]) for p in pieces]
            require_at_most("memory of a module", name, uses, memory)


def licences_are_enough(of: Tables) -> None:
    amount = of.case["system"].get("resources", {}).get("licences", {}).get("lic")
    if amount is None or "set_capacity" in of.done:
        return
    need = {"lic": 1, "lic:1": 1, "lic:2": 2}
    uses = []
    for piece in of.pieces:
        asked = of.asked.get(piece.row["component_id"], {}).get("licences", "")
        uses.append((piece.start, piece.end, need.get(asked, 0)))
    require_at_most("licences", "lic", uses, amount)


def nobody_starts_before_it_may(of: Tables) -> None:
    for name, job in of.asked.items():
        row = of.by_id[name]
        if row["start_time"] < 0:
            continue
        if "update" not in of.done and row["start_time"] < job.get("begin_time", -1):
            raise FoundError("begin time", f"{name}: {row['start_time']} before {job['begin_time']}")
        if job.get("hold") and not of.done & {"release", "update"}:
            raise FoundError("hold", f"{name} ran")
        if "dependency_ids" in job and not (
            of.done & OPERATED or of.lost or "api_calls" in str(of.case["jobs"])
        ):
            _require_predecessors(of, name)


def _require_predecessors(of: Tables, name: int) -> None:
    job, start = of.asked[name], of.by_id[name]["start_time"]
    met = []
    for other, kind in zip(job["dependency_ids"].split(","), job["dependency_kinds"].split(","), strict=True):
        if not other:
            return
        row = of.by_id[int(other)]
        over = row["end_time"] >= 0 or row["state"] == "REJECTED"
        good = row["state"] == "COMPLETED"
        if kind in ("AFTER", "AFTER+1"):
            began = row["start_time"] - of.boots_s if row["start_time"] >= 0 else row["end_time"]
            met.append(row["state"] != "PENDING" and start >= began + 60 * (kind == "AFTER+1") * (began >= 0))
        elif kind == "DYNAMIC":
            met.append(True)
        else:
            said = {"AFTERANY": True, "AFTERNOTOK": not good}.get(kind, good)
            met.append(over and said and start >= row["end_time"])
    if not (any(met) if job.get("dependency_any") else all(met)):
        raise FoundError(
            "dependency", f"{name} {job['dependency_kinds']} {job['dependency_ids']}: at {start} s"
        )


def arrays_keep_their_limit(of: Tables) -> None:
    arrays = defaultdict(list)
    for job in of.case["jobs"]:
        if job.get("array_job_id", -1) >= 0:
            arrays[job["array_job_id"]].append(job)
    if of.metrics["counts"].get("units", 0) or of.lost or of.done & OPERATED:
        return
    for array, tasks in arrays.items():
        limit = tasks[-1].get("array_limit", -1)
        if limit > 0:
            rows = [of.by_id[job["component_id"]] for job in tasks]
            uses = [(row["start_time"], row["end_time"], 1) for row in rows if row["start_time"] >= 0]
            require_at_most("limit of an array", str(array), uses, limit)


def nodes_out_of_service_are_idle(of: Tables) -> None:
    """Nobody works on a node that is DOWN by name; where nothing else takes nodes, as many are out.

    Under Slurm a node whose job was killed is out once that has been cleaned up.
    """
    events = of.case["system"].get("events", [])
    mixed = "failures" in of.case["system"] or any("count" in e or e["state"] == "RESUME" for e in events)
    if not events or mixed or of.done & {"drain", "fail", "resume"}:
        return
    down = defaultdict(set)
    for event in events:
        if event["state"] == "DOWN":
            for node in numbers(event["nodes"]):
                down[event["module"], node].add((event["time"], event.get("end", 2**62)))
    if "node_list" in of.components.columns:
        for piece in of.pieces:
            nodes = numbers(piece.row.get("node_list", "")) if piece.is_last else []
            for node in nodes:
                for first, last in down[piece.row["module"], node]:
                    if piece.start < last and piece.end > first and first < last and piece.start < piece.end:
                        raise FoundError("node out of service", f"{piece.row['component_id']} on node {node}")
    if any(event["state"] != "DOWN" for event in events):
        return
    steps = of.timeline[["time", "module", "nodes_down"]].itertuples(index=False, name=None)
    for time, module, out in steps:
        if module != "total":
            spans = (spans for (name, _), spans in down.items() if name == module)
            want = sum(any(first <= time < last for first, last in one) for one in spans)
            if out > want or (out < want and of.case["policy"].get("backfill") != "slurm"):
                raise FoundError("nodes out of service", f"{module}: {out} for {want} at {time} s")


def timeline_is_the_sum(of: Tables) -> None:
    """No module has more than its nodes; busy nodes are those of the pieces; the total is the sum."""
    states = [name for name in of.timeline.columns if name.startswith("nodes_")]
    now: dict[str, dict[str, int]] = {}
    busy_of = {name: [p for p in of.pieces if p.row["module"] == name] for name in of.modules}
    steps = of.timeline.to_dict("records")
    for number, step in enumerate(steps):
        module, values = step["module"], {name: step[name] for name in states}
        if min(values.values()) < 0 or min(step["queue_components"], step["queue_nodes"]) < 0:
            raise FoundError("timeline", f"{module}: {values} at {step['time']} s")
        now[module] = values
        if module != "total":
            if sum(values.values()) > of.modules[module]["nodes"]:
                raise FoundError("timeline", f"{module}: {values} at {step['time']} s")
            if not of.modules[module].get("shared") and not of.takes_turns:
                at_work = sum(p.row["nodes"] for p in busy_of[module] if p.start <= step["time"] < p.end)
                if at_work != values["nodes_busy"]:
                    raise FoundError("timeline", f"{module}: {values} for {at_work} busy at {step['time']} s")
        last = number + 1 == len(steps) or steps[number + 1]["time"] > step["time"]
        if last and "total" in now:
            for name in states:
                if now["total"][name] != sum(one[name] for key, one in now.items() if key != "total"):
                    raise FoundError("timeline", f"total of {name} at {step['time']} s")


def metrics_are_of_the_tables(of: Tables) -> None:
    """Means and largest values of waits, the makespan, and the parts of the energy."""
    waits = [row["start_time"] - row["submit_time"] for row in of.ran]
    if waits:
        said = of.metrics["wait_time"]
        if abs(said["mean"] - sum(waits) / len(waits)) > 1e-5 * max(1, said["mean"]) or said["max"] != max(
            waits
        ):
            raise FoundError("metrics", f"wait_time: {said}")
        first, last = min(row["submit_time"] for row in of.ran), max(row["end_time"] for row in of.ran)
        if of.metrics["makespan"] != last - first:
            raise FoundError("metrics", f"makespan: {of.metrics['makespan']} for {last - first}")
    energy = of.metrics.get("energy") or {}
    for name, block in (("total", energy), *energy.get("modules", {}).items()):
        if block.get("system_j") is not None:
            parts = [block.get(part) or 0 for part in ("job_j", "idle_j", "transition_j", "off_j")]
            if min(parts) < 0 or abs(sum(parts) - block["system_j"]) > 1e-3 + 1e-9 * sum(parts):
                raise FoundError("energy", f"{name}: {parts} for {block['system_j']}")


def limits_are_kept(of: Tables) -> None:
    """What QOS and associations let run at once, counted over the runs of their jobs."""
    qos = of.keys("qos") or {}
    if "limit_reason" not in of.components.columns or of.lost or of.takes_turns or of.done:
        return
    for name, limits in qos.items():
        pieces = [p for p in of.pieces if p.row["qos"] == name]
        if any("QOS" in one.get("slurm", {}) for one in of.case["system"].get("partitions", [])):
            return  # that of the partition counts, and may take the place of the job's
        _require_limits(limits, f"QOS {name}", pieces, "Grp")
        for kind in ("user", "account"):
            for who in {p.row[kind] for p in pieces}:
                own = [p for p in pieces if p.row[kind] == who]
                _require_limits(limits, f"QOS {name}, {who}", own, "Max", f"Per{kind.title()}")


def _nodes_in_use(pieces: list[Piece]) -> Iterator[tuple[int, int, float]]:
    """When how many nodes are in use; one that several of them share counts once, as in Slurm."""
    spans: dict[tuple[str, int], list[list[int]]] = {}
    for piece in sorted(pieces, key=lambda one: one.start):
        known = numbers(piece.row.get("node_list", "")) if piece.is_last else []
        if not known:
            yield piece.start, piece.end, piece.row["nodes"]
        for node in known:
            there = spans.setdefault((piece.row["module"], node), [])
            if there and piece.start <= there[-1][1]:
                there[-1][1] = max(there[-1][1], piece.end)
            else:
                there.append([piece.start, piece.end])
    yield from ((start, end, 1) for those in spans.values() for start, end in those)


def _require_limits(limits: dict, what: str, pieces: list[Piece], prefix: str, suffix: str = "") -> None:
    nodes = limits.get(f"{prefix}TRES{suffix}", {}).get("node")
    if nodes is not None:
        require_at_most("limit of nodes", what, _nodes_in_use(pieces), nodes)
    jobs = limits.get(f"{prefix}Jobs{suffix}")
    if jobs is not None:
        require_at_most("limit of jobs", what, [(p.start, p.end, 1) for p in pieces], jobs)


LAWS: tuple[Callable[[Tables], None], ...] = (
    nobody_is_lost,
    time_goes_forward,
    runs_follow_each_other,
    modules_have_room,
    nodes_have_room,
    parts_have_room,
    licences_are_enough,
    nobody_starts_before_it_may,
    arrays_keep_their_limit,
    nodes_out_of_service_are_idle,
    timeline_is_the_sum,
    limits_are_kept,
    metrics_are_of_the_tables,
)
