"""Small systems: modules, node sets, partitions, shared resources; what happens to their nodes."""

from __future__ import annotations

from typing import Any

from tests.fuzz.rules.draw import Setting

Keys = dict[str, Any]


def system(of: Setting) -> Keys:
    """Draw a system, as the keys of its file."""
    draw = of.draw
    names = "ABC"[: draw.choices([1, 2, 3], [5, 4, 1])[0]]
    modules = [_module(of, name) for name in names]
    made: Keys = {"modules": modules}
    if of.has("partitions") and (parts := [one for module in modules for one in _partitions(of, module)]):
        made["partitions"] = parts
    resources: Keys = {}
    if of.has("licences"):
        resources["licences"] = {"lic": draw.pick(1, 2, 4)}
        if draw.chance(0.2):
            resources["nam_gb"] = 2
        made["resources"] = resources
    if of.has("topology"):
        made["topology"] = _topology(of, modules)
    if of.has("events"):
        made["events"] = [_event(of, modules) for _ in range(draw.pick(1, 2, 4))]
    if of.has("failures"):
        made["failures"] = [_failures(of, module) for module in modules]
    if of.has("reservations"):
        made["reservations"] = [_reservation(of, number, modules) for number in range(draw.pick(1, 2, 3))]
        if draw.chance(0.4):
            changes = [_change(of, made["reservations"]) for _ in range(draw.pick(1, 2))]
            made["reservation_changes"] = sorted(changes, key=lambda one: int(one["at"]))
    return made


def _module(of: Setting, name: str) -> Keys:
    draw = of.draw
    nodes = draw.randint(1, 6)
    made: Keys = {"name": name, "nodes": nodes}
    if of.shared and (name == "A" or draw.chance(0.6)):
        made |= {"shared": True, "cores_per_node": draw.pick(2, 4, 8)}
        made |= draw.some({"memory_gb": [4, 8]}, 0.5) | draw.some({"sockets": [2]}, 0.15)
        if of.slurm:
            made |= draw.some({"threads_per_core": [2]}, 0.1)
        if draw.chance(0.25):
            made["gres"] = draw.pick({"gpu:a": 2}, {"gpu:a": 1, "gpu:b": 2})
        elif draw.chance(0.4):
            made["gpus_per_node"] = draw.pick(1, 2, 4)
    elif draw.chance(0.3):
        made["cores_per_node"] = draw.pick(2, 4, 8)
    if of.has("features"):
        made["features"] = ["fa"]
    made |= draw.some({"cost_per_node": [0.5, 2]}, 0.15)
    if of.has("node_sets") and nodes > 1:
        first = draw.randint(1, nodes - 1)
        sets: list[Keys] = [{"name": "x", "nodes": first}, {"name": "y", "nodes": nodes - first}]
        if of.has("features"):
            sets[0]["features"] = ["fast"]
        sets[1] |= draw.some({"weight": [3]}, 0.3)
        if made.get("shared"):
            sets[1] |= draw.some({"cores_per_node": [2, 4, 8]}, 0.25)
        made["node_sets"] = sets
    return made


def _partitions(of: Setting, module: Keys) -> list[Keys]:
    draw, nodes = of.draw, module["nodes"]
    made = []
    for number in range(draw.pick(0, 1, 1, 2, 3)):
        one: Keys = {"name": f"{module['name']}{number}", "module": module["name"]}
        one |= draw.some({"priority": [0, 1, 2, 5]}, 0.5)
        if "node_sets" in module:
            one |= draw.some({"node_sets": [["x"], ["y"], ["x", "y"]]}, 0.5)
        one |= draw.some({"max_time": [of.scale * time for time in (60, 200, 600)]}, 0.12)
        one |= draw.some({"default_time": [of.scale * time for time in (5, 60)]}, 0.1)
        one |= draw.some({"max_nodes": [draw.randint(1, nodes)], "min_nodes": [1, 2]}, 0.07)
        one |= draw.some({"state": ["DOWN", "DRAIN", "INACTIVE"]}, 0.04)
        if module.get("shared"):
            one |= draw.some({"exclusive": [True]}, 0.1)
        if of.slurm and (keys := _partition_of_slurm(of, module, one)):
            one["slurm"] = keys
        made.append(one)
    return made


def _partition_of_slurm(of: Setting, module: Keys, partition: Keys) -> Keys:
    draw, made = of.draw, Keys()
    if module.get("shared"):
        if of.has("gang") or draw.chance(0.1):
            made |= draw.some({"OverSubscribe": ["FORCE:2", "YES:2", "FORCE:1", "YES:3", "NO"]}, 0.6)
        made |= draw.some({"LLN": [True], "MaxCPUsPerNode": [2]}, 0.06)
        if partition.get("exclusive"):
            made.pop("OverSubscribe", None)
    if of.has("preemption"):
        modes = ["OFF", "REQUEUE", "CANCEL", "SUSPEND"]
        made |= draw.some({"GraceTime": [0, 5, 40], "PreemptMode": modes}, 0.2)
    if of.has("limits"):
        made |= draw.some({"QOS": ["r"]}, 0.1)
    return made


def _topology(of: Setting, modules: list[Keys]) -> Keys:
    draw = of.draw
    if draw.chance(0.6):
        return {"levels": [draw.pick(1, 2, 3), *([2] if draw.chance(0.4) else [])]}
    if of.slurm:
        return {"type": "block", "levels": [draw.pick(1, 2)]}
    leaves: list[Keys] = [{"name": f"s{one['name']}", "nodes": one["name"]} for one in modules]
    top: Keys = {"name": "top", "switches": [leaf["name"] for leaf in leaves]}
    return {"type": "tree", "switches": [*leaves, top]}


def _numbers(of: Setting, nodes: int) -> str:
    first = of.draw.randint(0, nodes - 1)
    last = of.draw.randint(first, nodes - 1)
    return f"{first}-{last}" if last > first else f"{first}"


def _event(of: Setting, modules: list[Keys]) -> Keys:
    draw = of.draw
    module = draw.choice(modules)
    time = of.first + draw.randint(0, 120) * of.scale
    made: Keys = {"time": time, "state": draw.pick("DOWN", "DOWN", "DRAIN", "FAIL", "RESUME")}
    made["module"] = module["name"]
    if draw.chance(0.7) or of.has("gang") or of.has("preemption"):
        made["nodes"] = _numbers(of, module["nodes"])
    else:
        made["count"] = draw.randint(1, module["nodes"])
    if made["state"] != "RESUME" and draw.chance(0.8):
        made["end"] = time + draw.pick(0, 1, 10, 60, 300) * of.scale
    if made["state"] == "DOWN":
        made |= draw.some({"requeue": [False]}, 0.3)
    return made


def _failures(of: Setting, module: Keys) -> Keys:
    draw = of.draw
    made: Keys = {"module": module["name"], "mtbf": draw.pick(300, 800, 3000) * of.scale}
    made["repair"] = {"mean": draw.pick(0, 5, 60) * of.scale}
    if draw.chance(0.3):
        made |= {"law": "weibull", "shape": 0.7}
    if draw.chance(0.3):
        made |= {"rack_size": 2, "rack_share": 0.5}
    return made | draw.some({"requeue": [False]}, 0.3)


FLAGS = {"MAINT": 25, "IGNORE_JOBS": 30, "NO_HOLD_JOBS_AFTER": 20, "HOURLY": 5, "DAILY": 5, "STATIC_ALLOC": 6}
FLAGS_OF_SLURM = {"OVERLAP": 12, "FLEX": 10, "ANY_NODES": 5, "PURGE_COMP": 10, "MAGNETIC": 8, "REPLACE": 5}
"""Flags of reservations, each with its per cent."""


def _reservation(of: Setting, number: int, modules: list[Keys]) -> Keys:
    draw = of.draw
    at = of.first + draw.pick(0, 1, 5, 30) * of.scale
    made: Keys = {"name": f"R{number}", "start": at + draw.pick(0, 5, 20, 60, 100) * of.scale}
    if draw.chance(0.3):
        made["at"] = at
    length = draw.pick(1, 10, 60, 200) * of.scale
    made |= {"end": made["start"] + length} if draw.chance(0.7) else {"duration": length}
    module = draw.choice(modules)
    which: list[Keys] = [
        {"nodes": "ALL"},
        {"nodes": [f"{module['name']}[{_numbers(of, module['nodes'])}]"]},
        {"node_count": draw.randint(1, 3)},
    ]
    made |= draw.choice(which)
    made |= draw.pick({"users": ["u"]}, {"users": ["u", "v"]}, {"users": ["-v"]}, {"accounts": ["a"]})
    shares = FLAGS | (FLAGS_OF_SLURM if of.slurm else {})
    if flags := [flag for flag, share in shares.items() if draw.chance(share / 100)]:
        made["flags"] = flags if "node_count" in made else [flag for flag in flags if flag != "REPLACE"]
    return made


def _change(of: Setting, reservations: list[Keys]) -> Keys:
    draw = of.draw
    at = of.first + draw.pick(2, 10, 30, 70) * of.scale
    what: list[Keys] = [
        {"action": "delete"},
        {"end": at + draw.pick(1, 50) * of.scale},
        {"start": at + draw.pick(1, 30) * of.scale},
        {"node_count": draw.randint(1, 4)},
        {"users": ["v"]},
    ]
    return {"at": at, "name": draw.choice(reservations)["name"], **draw.choice(what)}
