"""What is taken of the nodes, and on which of them a job may be at all (job_test.c of cons_common)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tests.oracle.plain_cons_tres_needs import AVAILABLE, ONE_ROW, RESERVED, Needs
from tests.oracle.plain_cons_tres_records import Counts, Node, Settings, SharedPartition
from tests.oracle.plain_cons_tres_rows import Rows, Tenant

Cores = dict[int, frozenset[int]]  # of nodes
NONE: frozenset[int] = frozenset()


class Room:
    """The nodes with those who are on them."""

    def __init__(self, nodes: Sequence[Node], settings: Settings, tenants: Iterable[Tenant] = ()):
        self.nodes, self.settings = nodes, settings
        self.tenants: list[Tenant] = []
        self._rows: dict[int, Rows] = {}  # by the identity of partitions
        self._gone: set[int] = set()
        self.last: frozenset[int] = frozenset()  # nodes that come behind all others
        self.asleep: frozenset[int] = frozenset()  # ... and behind these, whatever they weigh
        for tenant in tenants:
            self.join(tenant)

    def copy(self) -> Room:
        same = Room(self.nodes, self.settings)
        same.tenants, same.last, same.asleep = list(self.tenants), self.last, self.asleep
        same._rows = {part: Rows(rows.rows) for part, rows in self._rows.items()}
        return same

    def join(self, tenant: Tenant) -> None:
        self.tenants.append(tenant)
        self._gone.discard(tenant.number)
        self._rows_of(tenant.part).join(tenant)

    def leave(self, number: int) -> None:
        self.tenants = [tenant for tenant in self.tenants if tenant.number != number]
        self._gone.add(number)

    def leave_cores(self, number: int) -> None:
        """It keeps what else it has of its nodes, where it is beside anybody."""
        leaving = next(tenant for tenant in self.tenants if tenant.number == number)
        self.leave(number)
        bare = {node: replace(share, cores=NONE) for node, share in leaving.shares.items()}
        self.tenants.append(replace(leaving, shares=bare))

    def on(self, node: int) -> list[Tenant]:
        return [tenant for tenant in self.tenants if node in tenant.shares]

    # ------------------------------------------------------------------ what is free

    def all_cores(self, usable: Iterable[int]) -> Cores:
        return {node: self.nodes[node].all_cores for node in usable}

    def without(self, cores: Cores, tenants: Iterable[Tenant]) -> Cores:
        """The cores without those of the tenants."""
        left = dict(cores)
        for tenant in tenants:
            for node in tenant.shares.keys() & left.keys():
                left[node] -= tenant.shares[node].cores
        return left

    def free_memory(self, node: int) -> int:
        return self.nodes[node].memory - sum(tenant.shares[node].memory for tenant in self.on(node))

    def free_gres(self, node: int, wanted: str) -> Counts:
        """Of each type that meets the request, how many are free."""
        free = {}
        for name, count in self.nodes[node].gres.items():
            if name == wanted or name.split(":")[0] == wanted:
                used = sum(tenant.shares[node].gres.get(name, 0) for tenant in self.on(node))
                free[name] = count - used
        return free

    def cpus_of(self, part: SharedPartition, node: int) -> int:
        """CPUs of the node that jobs of the partition have."""
        cores = NONE.union(*(t.shares[node].cores for t in self.on(node) if t.part is part))
        return len(cores) * self.nodes[node].threads

    # ------------------------------------------------------------------ rows

    def rows(self, part: SharedPartition) -> list[list[Tenant]]:
        """The rows of the partition's jobs, some of them empty; without those that have left by now."""
        rows = self._rows_of(part)
        gone = self._gone & {tenant.number for row in rows.rows for tenant in row}
        if gone:
            rows.leave(gone)
        return rows.rows

    def _rows_of(self, part: SharedPartition) -> Rows:
        return self._rows.setdefault(id(part), Rows([[] for _ in range(part.rows)]))

    # ------------------------------------------------------------------ who may be beside whom

    def may_use(self, needs: Needs, node: int) -> bool:
        """By memory, GRES and the kinds of those who are there; not yet by cores."""
        if self.settings.memory and not self._has_memory(needs, node):
            return False
        here = self.on(node)
        if needs.whole and any(tenant.shares[node].gres for tenant in here):
            return False
        wanted = [*needs.gres.items(), *((name, needs.task_gpus.get(name, 1)) for name in needs.gpus)]
        if any(sum(self.free_gres(node, name).values()) < count for name, count in wanted):
            return False
        here = [tenant for tenant in here if tenant.shares[node].cores]
        state = max((tenant.kind for tenant in here), default=AVAILABLE)
        if state == RESERVED or (state == ONE_ROW and needs.kind != ONE_ROW):
            return False
        if needs.kind == RESERVED:
            return not here
        shared_by_others = any(t.part.rows > 1 and t.part is not needs.part for t in here)
        return needs.kind == AVAILABLE or not shared_by_others

    def _has_memory(self, needs: Needs, node: int) -> bool:
        free = self.free_memory(node)
        if needs.gpu_memory:
            return free >= needs.gpu_memory
        if not needs.memory:
            return free == self.nodes[node].memory
        cpus = max(needs.tasks_per_node, needs.node_cpus, needs.cpus_per_task) if needs.per_cpu else 1
        return free >= needs.memory * cpus
