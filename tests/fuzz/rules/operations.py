"""What processes do while a case runs: an operation is a small mapping, drawn before anything is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scheduler_sim import Simulation
from tests.fuzz.rules.draw import Setting

Operation = dict[str, Any]


def operations(of: Setting) -> list[Operation]:
    """Draw operations: their times, what is done to which component or module, and two numbers for it."""
    draw = of.draw
    if not of.has("operations"):
        return []
    times = sorted(of.first + of.time(draw.randint(0, 150)) for _ in range(draw.randint(1, 6)))
    return [
        {
            "time": time,
            "does": draw.choice(list(DOES)),
            "which": draw.randint(0, 20),
            "amount": draw.randint(1, 4),
            "seconds": of.time(draw.randint(1, 100)),
        }
        for time in times
    ]


def carry_out(sim: Simulation, operation: Operation, ids: list[int]) -> None:
    """Do it now; the ids of components that are submitted are added. Raises InputError if it is refused."""
    DOES[operation["does"]](sim, ids, operation["which"], operation["amount"], operation["seconds"])


Does = Callable[[Simulation, list[int], int, int, int], object]


def _submit(sim: Simulation, ids: list[int], which: int, amount: int, seconds: int) -> None:
    partitions = [one.name for one in sim.system.partitions]
    fields: dict[str, Any] = {"nodes": amount, "run_time": seconds - 1}
    if which % 2:
        fields["partition"] = partitions[which % len(partitions)]
    if which % 3:
        fields["time_limit"] = 1 + (seconds + which) % 120
    if which % 4 and any(module.shared for module in sim.system.modules):
        fields["cores"] = 1 + amount % 2
    if which % 5 == 0:
        kinds = ("AFTER", "AFTERANY", "AFTEROK", "AFTERNOTOK")
        fields |= {"after": [ids[seconds % len(ids)]], "dependency_type": kinds[amount % 4]}
    if which % 7 == 1:
        fields["hold"] = 1
    if which % 7 == 2:
        fields["begin_time"] = int(sim.env.now) + seconds
    ids.append(sim.submit(user="u", **fields))


def _update(sim: Simulation, ids: list[int], which: int, amount: int, seconds: int) -> None:
    partitions = [one.name for one in sim.system.partitions]
    values: list[dict[str, Any]] = [
        {"time_limit": seconds},
        {"begin_time": int(sim.env.now) + seconds},
        {"partition": partitions[amount % len(partitions)]},
        {"nodes": amount},
    ]
    if sim.policy.backfill == "slurm":
        values += [{"priority": (0, 5, 2**32 - 1, 1)[amount % 4]}, {"nice": seconds}]
    sim.update(_component(ids, which), **values[seconds % len(values)])


def _component(ids: list[int], which: int) -> int:
    return ids[which % len(ids)]


def _module(sim: Simulation, which: int) -> str:
    return str(sim.system.modules[which % len(sim.system.modules)].name)


def _until(sim: Simulation, seconds: int) -> int | None:
    """Return when nodes are back; every third time nobody has said."""
    return int(sim.env.now) + seconds if seconds % 3 else None


def _set_capacity(sim: Simulation, ids: list[int], which: int, amount: int, seconds: int) -> None:
    if sim.system.resources:
        resource = sim.system.resources[which % len(sim.system.resources)]
        sim.set_capacity(resource.name, resource.amount * amount // 2)


def _set_cap(sim: Simulation, ids: list[int], which: int, amount: int, seconds: int) -> None:
    if sim.models is not None and sim.models.energy is not None and sim.models.energy.cap is not None:
        sim.set_cap(100 * amount * sum(module.nodes for module in sim.system.modules))


DOES: dict[str, Does] = {
    "submit": _submit,
    "cancel": lambda sim, ids, which, amount, seconds: sim.cancel(_component(ids, which)),
    "hold": lambda sim, ids, which, amount, seconds: sim.hold(_component(ids, which)),
    "release": lambda sim, ids, which, amount, seconds: sim.release(_component(ids, which)),
    "requeue": lambda sim, ids, which, amount, seconds: sim.requeue(_component(ids, which)),
    "update": _update,
    "drain": lambda sim, ids, which, amount, seconds: sim.drain(
        _module(sim, which), amount, until=_until(sim, seconds)
    ),
    "fail": lambda sim, ids, which, amount, seconds: sim.fail(
        _module(sim, which), amount, requeue=bool(which % 2), until=_until(sim, seconds)
    ),
    "resume": lambda sim, ids, which, amount, seconds: sim.resume(_module(sim, which), amount),
    "set_capacity": _set_capacity,
    "set_cap": _set_cap,
}
"""Operations by name: of a simulation, the ids, which component or module, an amount, and seconds."""
