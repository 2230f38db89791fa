"""What the plain model of select/cons_tres is told: nodes, partitions, settings, requests of jobs.

Nodes are known by their place in slurm.conf; memory is in MB. GRES are counted by name, or by name and type:
a node has `{"gpu:a100": 4}` or, without types, `{"gpu": 4}`; a request for `gpu` is met by any type.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.oracle.plain_slurm_records import Job, Partition

Counts = dict[str, int]  # of GRES


@dataclass(frozen=True)
class Node:
    cores: int  # of each socket
    sockets: int = 1
    threads: int = 1  # CPUs of each core
    memory: int = 1
    gres: Counts = field(default_factory=dict)
    weight: int = 1

    @property
    def all_cores(self) -> frozenset[int]:
        return frozenset(range(self.sockets * self.cores))

    @property
    def cpus(self) -> int:
        return self.sockets * self.cores * self.threads


@dataclass
class SharedPartition(Partition):
    name: str = ""
    place: int = 0  # in slurm.conf
    oversubscribe: str = "NO"  # NO, EXCLUSIVE, YES:n, FORCE:n
    max_nodes: int | None = None
    max_cpus_per_node: int | None = None
    lln: bool = False
    def_mem_per_cpu: int = 0
    def_mem_per_node: int = 0
    max_mem_per_cpu: int = 0
    def_cpu_per_gpu: int = 0
    def_mem_per_gpu: int = 0

    @property
    def rows(self) -> int:
        """How many jobs may have a core at once."""
        _, _, many = self.oversubscribe.partition(":")
        return int(many or (4 if self.oversubscribe in ("YES", "FORCE") else 1))


@dataclass
class Settings:
    """Of slurm.conf: SelectTypeParameters and the memory of jobs that ask for none, or for much."""

    memory: bool = False  # CR_*_Memory
    whole_sockets: bool = False  # CR_Socket
    lln: bool = False  # CR_LLN
    def_mem_per_cpu: int = 0
    def_mem_per_node: int = 0
    max_mem_per_cpu: int = 0
    def_cpu_per_gpu: int = 0
    def_mem_per_gpu: int = 0
    gang: bool = False  # PreemptMode with GANG
    by_tier: bool = False  # ... and SUSPEND
    off: frozenset[str] = frozenset()  # partitions whose jobs are not suspended


@dataclass(frozen=True)
class Ask:
    """What sbatch was given; None: nothing."""

    nodes: tuple[int, int] | None = None  # -N
    tasks: int | None = None  # -n
    cpus_per_task: int | None = None  # -c
    tasks_per_node: int = 0  # --ntasks-per-node, 0: not said
    mem: int | None = None
    mem_per_cpu: int | None = None
    gres: Counts = field(default_factory=dict)  # --gres, --gpus-per-node: on each node
    gpus: Counts = field(default_factory=dict)  # --gpus: in all
    gpus_per_task: Counts = field(default_factory=dict)  # with -n or --gpus
    cpus_per_gpu: int = 0
    mem_per_gpu: int = 0
    exclusive: bool = False
    oversubscribe: bool = False


@dataclass(frozen=True)
class Share:
    """What a job has of a node."""

    cores: frozenset[int]
    cpus: int
    memory: int = 0
    gres: Counts = field(default_factory=dict)


@dataclass
class SharedJob(Job):
    """A job on shared nodes: `nodes`, the least that it may have, follows from what it asks for."""

    ask: Ask = field(default_factory=Ask)
    part: str = ""  # that it has started in
    whole: bool = False  # it has its nodes to itself
    shares: dict[int, Share] = field(default_factory=dict)
