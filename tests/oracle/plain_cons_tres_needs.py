"""From what sbatch was given to the numbers that the scheduler goes by (job_mgr.c, node_scheduler.c)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tests.oracle.plain_cons_tres_records import Ask, Counts, Settings, SharedPartition

UNSET = 500_000  # of a maximum number of nodes

# Which nodes a job may be on, in Slurm's order: the state of a node is the highest of its jobs.
AVAILABLE, ONE_ROW, RESERVED = 0, 1, 2


@dataclass(frozen=True)
class Needs:
    min_nodes: int
    max_nodes: int  # that the job said, UNSET if it did not
    tasks: int  # 0: not said
    cpus_per_task: int
    tasks_per_node: int  # 0: not said
    min_cpus: int  # of all nodes
    node_cpus: int  # what each node must give at least
    memory: int  # MB, 0: all of a node
    per_cpu: bool  # the memory is per CPU
    gres: Counts  # of each node
    gpus: Counts  # of all nodes
    task_gpus: Counts  # of each task
    gpu_cpus: int  # for each GPU, 0: not said, and no default
    gpu_cpus_said: bool
    gpu_memory: int  # for each GPU instead of the other memory, 0: not so
    whole: bool
    kind: int  # AVAILABLE, ONE_ROW or RESERVED
    part: SharedPartition

    @property
    def asked_nodes(self) -> int:
        """What -N gave as the most, which is tried for; else the least."""
        return self.min_nodes if self.max_nodes == UNSET else self.limit

    @property
    def limit(self) -> int:
        """The most nodes it may have in the partition."""
        return min(self.max_nodes, self.part.max_nodes or UNSET)

    @property
    def node_tasks(self) -> int:
        """Tasks that one node must be able to hold: all of them if there is but one node."""
        return self.tasks_per_node or (self.tasks if self.max_nodes == 1 else 0) or 1


def needs_of(ask: Ask, part: SharedPartition, conf: Settings) -> Needs:
    least, most = ask.nodes or (1, UNSET)
    tasks, each = _tasks(ask, least, most), ask.cpus_per_task or 1
    gpu_cpus, gpu_memory = _of_each_gpu(ask, part, conf)
    gpus = ask.gpus | {name: tasks * count for name, count in ask.gpus_per_task.items()}
    if most != UNSET:
        most = min([most, *([tasks] if tasks else []), *gpus.values()])  # what has neither is of no use
        least = min(least, most)
    memory, per_cpu = _memory(ask, part, conf)
    cpus = (tasks or (least if least == most else 1)) * each
    each = max([each, *(count * gpu_cpus for count in ask.gpus_per_task.values())])
    needs = Needs(
        min_nodes=least,
        max_nodes=most,
        tasks=tasks,
        cpus_per_task=each,
        tasks_per_node=ask.tasks_per_node,
        min_cpus=max(cpus, least),
        node_cpus=max(1, each, each * ask.tasks_per_node if tasks > 1 else 0),
        memory=memory,
        per_cpu=per_cpu,
        gres=ask.gres,
        gpus=gpus,
        task_gpus=ask.gpus_per_task,
        gpu_cpus=gpu_cpus,
        gpu_cpus_said=ask.cpus_per_gpu > 0,
        gpu_memory=gpu_memory,
        whole=ask.exclusive or part.oversubscribe == "EXCLUSIVE",
        kind=_kind(ask, part),
        part=part,
    )
    return _within_memory_per_cpu(needs, part.max_mem_per_cpu or conf.max_mem_per_cpu)


def _tasks(ask: Ask, least: int, most: int) -> int:
    """As said; as many as come to its nodes, or to the GPUs in all if it says how many each task wants.

    Else 0: on as many nodes as are taken, not one for each of the least.
    """
    by_gpus = max((ask.gpus.get(name, 0) // count for name, count in ask.gpus_per_task.items()), default=0)
    one_each = least if ask.gpus_per_task and least == most else 0
    return ask.tasks or least * ask.tasks_per_node or by_gpus or one_each


def _of_each_gpu(ask: Ask, part: SharedPartition, conf: Settings) -> tuple[int, int]:
    """CPUs and memory; the defaults do not count beside -c, and beside memory that was asked for."""
    if not any(is_gpu(name) for name in (*ask.gres, *ask.gpus, *ask.gpus_per_task)):
        return 0, 0
    cpus, memory = ask.cpus_per_gpu, ask.mem_per_gpu
    if ask.cpus_per_task is None:
        cpus = cpus or part.def_cpu_per_gpu or conf.def_cpu_per_gpu
    if ask.mem is None and ask.mem_per_cpu is None:
        memory = memory or part.def_mem_per_gpu or conf.def_mem_per_gpu
    return cpus, memory


def is_gpu(name: str) -> bool:
    return name.split(":")[0] == "gpu"


def _kind(ask: Ask, part: SharedPartition) -> int:
    if part.oversubscribe == "EXCLUSIVE":
        return RESERVED
    if part.rows == 1 and ask.exclusive:
        return ONE_ROW  # idle nodes only, and nobody else there (_resolve_shared_status of node_scheduler.c)
    forced = part.oversubscribe.startswith("FORCE")
    asked = part.rows > 1 and ask.oversubscribe and not ask.exclusive
    return AVAILABLE if forced or asked else ONE_ROW


def _memory(ask: Ask, part: SharedPartition, conf: Settings) -> tuple[int, bool]:
    """MB and whether they are per CPU: as asked, else the partition's default, else the cluster's."""
    if ask.mem is not None:
        return ask.mem, False
    if ask.mem_per_cpu is not None:
        return ask.mem_per_cpu, ask.mem_per_cpu > 0
    for default in (part, conf):
        if default.def_mem_per_node:
            return default.def_mem_per_node, False
        if default.def_mem_per_cpu:
            return default.def_mem_per_cpu, True
    return 0, False


def _within_memory_per_cpu(needs: Needs, limit: int) -> Needs:
    """MaxMemPerCPU refuses nothing: who asks for more memory gets more CPUs."""
    if not limit or needs.memory <= limit:
        return needs
    if needs.per_cpu:
        factor = -(-needs.memory // limit)
        each = needs.cpus_per_task * factor
        if needs.tasks:
            needs = replace(needs, min_cpus=needs.tasks * each)
        else:
            needs = replace(needs, node_cpus=each)
        return replace(needs, cpus_per_task=each, memory=-(-needs.memory // factor))
    least = -(-needs.memory // limit)
    if needs.node_cpus >= least:
        return needs
    each = -(-least // needs.tasks_per_node) if needs.tasks_per_node else needs.cpus_per_task
    return replace(needs, node_cpus=least, cpus_per_task=each)
