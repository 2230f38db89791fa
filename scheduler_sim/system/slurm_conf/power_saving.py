"""Which nodes a slurm.conf keeps on: ``SuspendExcNodes``, by number in the modules that become of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from scheduler_sim.errors import InputError
from scheduler_sim.numerals import is_digits
from scheduler_sim.system.node_events import written
from scheduler_sim.system.slurm_conf.hostlist import expand
from scheduler_sim.system.slurm_conf.ignored import NO_SUCH_NODE, OF_EACH_MODULE
from scheduler_sim.system.slurm_conf.lines import Pair
from scheduler_sim.system.slurm_conf.notes import Notes

PROGRAMS = ("suspendprogram", "resumeprogram")
INTERVAL = "power_save_interval"


def kept_on(
    pair: Pair, numbers: Mapping[str, tuple[str, int]], known: Collection[str], notes: Notes
) -> tuple[str, ...]:
    """Return the words of ``policy.slurm.SuspendExcNodes``: ``main[0-9]``, or ``main[0-9]:4``.

    Before a colon stands a list of nodes, behind it how many idle ones of these stay on, as Slurm reads it.
    Nodes that are left out of the system are left out here; what cannot be read is noted as a mistake.
    """
    words, rest = list[str](), pair.value
    while rest:
        names, colon, rest = rest.partition(":")
        count, _, rest = rest.partition(",")
        try:
            nodes = expand(names.strip().strip(","))
        except InputError as error:
            notes.wrong(pair.place, pair.key, error)
            return ()
        if colon and not (is_digits(count) and 1 <= int(count) <= len(nodes)):
            notes.wrong(pair.place, pair.key, f"found :{count[:20]!r}; allowed: from 1 to {len(nodes)}")
            return ()
        if strangers := sorted(set(nodes) - set(known)):
            notes.ignore(pair, NO_SUCH_NODE, value=strangers[0])
        words += _words([numbers[name] for name in nodes if name in numbers], count, pair, notes)
    return tuple(words)


def _words(places: list[tuple[str, int]], count: str, pair: Pair, notes: Notes) -> list[str]:
    modules = dict.fromkeys(module for module, _ in places)
    if count and len(modules) > 1:
        notes.ignore(pair, OF_EACH_MODULE)
    found = []
    for module in modules:
        here = tuple(sorted(number for name, number in places if name == module))
        found.append(f"{module}[{written(here)}]" + (f":{min(int(count), len(here))}" if count else ""))
    return found
