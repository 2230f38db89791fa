"""The metrics once more, in plain Python loops over rows: slow, and easy to believe."""

from __future__ import annotations

import math

AFTER, DYNAMIC = 0, 4


def percentile(values, percent):
    ordered = sorted(values)
    position = (len(ordered) - 1) * percent / 100
    low = math.floor(position)
    high = math.ceil(position)
    return ordered[low] + (ordered[high] - ordered[low]) * (position - low)


def summary(values):
    values = list(values)
    if not values:
        return {"mean": None, "median": None, "p90": None, "p99": None, "max": None}
    return {
        "mean": sum(values) / len(values),
        "median": percentile(values, 50),
        "p90": percentile(values, 90),
        "p99": percentile(values, 99),
        "max": max(values),
    }


def job_metrics(rows):
    ran = [row for row in rows if row["start_time"] >= 0]
    response = [row["end_time"] - row["submit_time"] for row in ran]
    run = [row["end_time"] - row["start_time"] for row in ran]
    return {
        "wait_time": summary(row["start_time"] - row["submit_time"] for row in ran),
        "response_time": summary(response),
        "slowdown": summary(a / max(b, 1) for a, b in zip(response, run, strict=True)),
        "bounded_slowdown": summary(max(1, a / max(b, 10)) for a, b in zip(response, run, strict=True)),
        "makespan": max(row["end_time"] for row in ran) - min(row["submit_time"] for row in ran)
        if ran
        else None,
    }


def utilization(rows, timeline, modules):
    """Second by second."""
    ran = [row for row in rows if row["start_time"] >= 0]
    if not ran:
        return dict.fromkeys([*modules, "total"])
    first, last = min(row["submit_time"] for row in ran), max(row["end_time"] for row in ran)
    used, offered = dict.fromkeys(modules, 0), dict.fromkeys(modules, 0)
    for module, nodes in modules.items():
        for second in range(first, last):
            down = 0
            for row in timeline:
                if row["module"] == module and row["time"] <= second:
                    down = row["nodes_down"]
            offered[module] += nodes - down
            used[module] += sum(
                row["nodes"]
                for row in ran
                if row["module"] == module and row["start_time"] <= second < row["end_time"]
            )
    result = {module: used[module] / offered[module] if offered[module] else None for module in modules}
    whole = sum(offered.values())
    result["total"] = sum(used.values()) / whole if whole else None
    return result


def workflows(rows, edges):
    """Lists of row numbers: same job, or reached over a dependency in either direction."""
    left, found = set(range(len(rows))), []
    while left:
        group, reached = set(), [min(left)]
        while reached:
            i = reached.pop()
            if i in group:
                continue
            group.add(i)
            reached += [j for j in left if rows[j]["modular_job_id"] == rows[i]["modular_job_id"]]
            reached += [b for a, b in edges if a == i] + [a for a, b in edges if b == i]
        left -= group
        found.append(sorted(group))
    return found


def units(rows, edges):
    """Lists of row numbers that start together; ``edges`` are dicts with row, after_row, kind and so on."""
    job = [row["modular_job_id"] for row in rows]
    alone = {e["row"] for e in edges if job[e["row"]] == job[e["after_row"]]}
    key = [("alone", i) if i in alone else job[i] for i in range(len(rows))]
    for edge in (e for e in edges if e["kind"] == DYNAMIC):
        old, new = key[edge["row"]], key[edge["after_row"]]
        key = [new if k == old else k for k in key]
    return [[i for i in range(len(rows)) if key[i] == k] for k in dict.fromkeys(key)]


def ideal_ends(rows, edges, offset=None):
    """End of each component on an empty machine, units resolved one after the other."""
    groups = [[i] for i in range(len(rows))] if offset is None else units(rows, edges)
    shift, before, start = {}, {}, {}
    for group in groups:
        first = min(rows[i]["start_time"] for i in group)
        for i in group:
            shift[i] = 0 if offset is None else min(offset[i], rows[i]["start_time"] - first)

    def satisfied(edge):
        after = rows[edge["after_row"]]
        lag = after["end_time"] - after["start_time"]
        if edge["kind"] == AFTER:
            lag = 0
        elif edge["ready"] >= 0:
            lag = min(max(0, edge["ready"] - after["start_time"]), lag)
        return start[edge["after_row"]] + lag + edge["delay"]

    progress = True
    while progress:
        progress = False
        for group in groups:
            for i in group:
                mine = [e for e in edges if e["row"] == i and e["kind"] != DYNAMIC]
                if i not in before and all(e["after_row"] in start for e in mine):
                    rule = min if any(e["any"] for e in mine) else max
                    before[i] = rule([satisfied(e) for e in mine], default=0)
                    progress = True
            if group[0] not in start and all(i in before for i in group):
                start |= {i: max(before[j] for j in group) + shift[i] for i in group}
                progress = True
    for group in groups:  # on and behind circles
        for i in group:
            start.setdefault(i, max(before.get(j, 0) for j in group) + shift[i])
    return [start[i] + row["end_time"] - row["start_time"] for i, row in enumerate(rows)]


def workflow(rows, edges, group):
    """Equations 3.1 to 3.9 of D2.3 for one workflow."""
    members = [rows[i] for i in group]
    start = min(row["start_time"] for row in members)
    submission = min(row["submit_time"] for row in members)
    end = max(row["end_time"] for row in members)
    components_runtime = sum(row["end_time"] - row["start_time"] for row in members)
    internal = 0
    for i in group:
        predecessors = [rows[b]["end_time"] for a, b in edges if a == i]
        if predecessors:
            internal += max(0, rows[i]["start_time"] - max(predecessors))
    return {
        "start_time": start,
        "submission_time": submission,
        "end_time": end,
        "runtime": end - start,
        "response_time": end - submission,
        "components_runtime": components_runtime,
        "internal_wait_time": internal,
        "slowdown": (end - submission) / max(components_runtime, 1),
        "normalized_runtime": (end - start) / max(components_runtime, 1),
    }


def workflow_metrics(rows, edges):
    groups = workflows(rows, edges)

    def over(chosen):
        whole = [group for group in chosen if all(rows[i]["start_time"] >= 0 for i in group)]
        values = [workflow(rows, edges, group) for group in whole]
        names = workflow(rows, edges, groups[0]) if groups else {}
        return {
            "workflows": len(chosen),
            "complete": len(whole),
            "components": sum(map(len, whole)),
            **{name: summary(value[name] for value in values) for name in names},
        }

    return {
        **over([group for group in groups if len(group) > 1]),
        "with_single_components": over(groups),
    }
