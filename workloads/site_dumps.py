"""A made-up site as a folder: its slurm.conf, what its Slurm printed, and a week of sacct.

``python workloads/site_dumps.py [FOLDER]`` writes ``workloads/sample-site``, or the folder given. Jobs and
users are drawn, and start when our own policy ``slurm`` starts them: no Slurm has seen them.
"""

from __future__ import annotations

import math
import sys
from datetime import UTC, datetime
from pathlib import Path

from scheduler_sim import Policy, simulate
from scheduler_sim.cli.site import read_folder
from scheduler_sim.streams import stream

FOLDER = Path(__file__).parent / "sample-site"
MONDAY = int(datetime(2026, 3, 2, tzinfo=UTC).timestamp())
WEEK = 7 * 86400
FIRST_JOB = 7000
ASKED_AT = MONDAY + 3 * 86400 + 8 * 3600
HALF_LIFE = 7 * 86400
"""Of usage: PriorityDecayHalfLife, which the slurm.conf leaves as it is."""
USERS = {"ann": "optics", "bob": "optics", "cyd": "lattice", "dan": "lattice", "eve": "genome"}
HEADER = (
    "JobID|JobName|User|Account|QOS|Partition|State|Submit|Start|End|TimelimitRaw|NNodes|NCPUS|ReqMem|ReqTRES"
)

USAGE_FACTORS = {"normal": 1, "urgent": 2}
QUEUE_HEADER = (
    "JOBID|USER|ACCOUNT|QOS|PARTITION|STATE|TIME|START_TIME|TIME_LIMIT|NODES|CPUS|MIN_MEMORY|TRES_PER_NODE"
    "|SUBMIT_TIME|REASON|NAME"
)

SLURM_CONF = """\
# Made up by workloads/site_dumps.py: no site, user or job in this folder is real.
ClusterName=mill
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=60,bf_resolution=60,bf_max_job_user=30
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
TopologyPlugin=topology/tree
GresTypes=gpu
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageEnforce=associations,limits,qos
PriorityType=priority/multifactor
PriorityWeightFairshare=10000
PriorityWeightQOS=5000
PriorityWeightAge=1000
NodeName=DEFAULT Sockets=2 CoresPerSocket=16
NodeName=n[01-12] RealMemory=128000
NodeName=g[1-4] RealMemory=256000 Gres=gpu:4
PartitionName=cpu Nodes=n[01-12] Default=YES MaxTime=2-0 DefaultTime=60
PartitionName=gpu Nodes=g[1-4] MaxTime=1-0 DefaultTime=60
"""
DUMPS = {
    "slurm.conf": SLURM_CONF,
    "gres.conf": "NodeName=g[1-4] Name=gpu File=/dev/nvidia[0-3]\n",
    "topology.conf": """\
SwitchName=leaf1 Nodes=n[01-06],g[1-2]
SwitchName=leaf2 Nodes=n[07-12],g[3-4]
SwitchName=spine Switches=leaf[1-2]
""",
    "sacctmgr_assoc.txt": """\
Cluster|Account|User|Partition|Share|Priority|GrpJobs|GrpTRES|MaxJobs|MaxTRES|MaxWall|QOS|Def QOS
mill|root|||1|||||||normal|normal
mill| root|root||1|||||||normal|normal
mill| physics|||60|||cpu=256||||normal,urgent|normal
mill|  optics|||2|||||||normal,urgent|normal
mill|   optics|ann||1|||||||normal,urgent|normal
mill|   optics|bob||1||||8|||normal,urgent|normal
mill|  lattice|||1|||||node=8||normal,urgent|normal
mill|   lattice|cyd||1|||||node=8||normal,urgent|normal
mill|   lattice|dan||parent|||||node=8|12:00:00|normal,urgent|normal
mill| genome|||40||20|||||normal|normal
mill|  genome|eve||1|||||||normal|normal
""",
    "sacctmgr_qos.txt": """\
Name|Priority|GraceTime|Preempt|PreemptMode|Flags|UsageFactor|GrpTRES|MaxWall|MaxTRESPU|MaxJobsPU|MaxSubmitPU
normal|0|00:00:00||cluster||1.000000|||gres/gpu=8||
urgent|100|00:00:00||cluster|DenyOnLimit|2.000000|cpu=64|04:00:00||2|10
""",
    "sacctmgr_event.txt": """\
Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User
mill|n07|2026-03-03T09:12:00|2026-03-03T15:40:00|DOWN|Not responding|slurm(64030)
mill|g4|2026-03-05T08:00:00|Unknown|DRAIN|gpu 2 fell off the bus|root(0)
""",
    "reservations.txt": (
        "ReservationName=monday StartTime=2026-03-09T08:00:00 EndTime=2026-03-09T18:00:00 Duration=10:00:00"
        " Nodes=n[01-12],g[1-4] NodeCnt=16 CoreCnt=512 Features=(null) PartitionName=(null)"
        " Flags=MAINT,IGNORE_JOBS,SPEC_NODES,ALL_NODES TRES=cpu=512 Users=root Groups=(null) Accounts=(null)"
        " Licenses=(null) State=INACTIVE BurstBuffer=(null) Watts=n/a MaxStartDelay=(null)\n"
    ),
}

Job = tuple[int, str, str, int, int, int, int, int, int]


def main(folder: str | Path = FOLDER) -> None:
    """Write all that the site's Slurm was told and printed, and what sacct would tell of its jobs."""
    folder = Path(folder)
    folder.mkdir(exist_ok=True)
    for name, text in DUMPS.items():
        (folder / name).write_text(text, encoding="utf-8")
    jobs, dump = jobs_of_a_week(), folder / "sacct.txt"
    dump.write_text(_told(jobs, {number: (job[0], job[0] + job[5]) for number, job in jobs.items()}), "utf-8")
    site = read_folder(str(folder)).site
    ran = simulate(site.system, dump, Policy(backfill="slurm", slurm=site.policy)).components
    first = min(job[0] for job in jobs.values()) - int(ran["submit_time"].min())  # on the clock of the trace
    columns = (ran[name].tolist() for name in ("component_id", "start_time", "end_time"))
    starts = {number: (first + start, first + end) for number, start, end in zip(*columns, strict=True)}
    dump.write_text(_told(jobs, starts), "utf-8")
    (folder / "squeue.txt").write_text(_queue(jobs, starts), encoding="utf-8")
    (folder / "sshare.txt").write_text(_usage(jobs, starts), encoding="utf-8")


def jobs_of_a_week(many: int = 300) -> dict[int, Job]:
    """Draw jobs: submit, user, QOS, nodes, cores, run time (s), limit (min), GB and GPUs of a node."""
    draw = stream(3, "sample site")
    jobs = {}
    for number, submit in enumerate(sorted(draw.integers(0, WEEK, many).tolist()), FIRST_JOB):
        user = str(draw.choice(list(USERS)))
        gpus = int(draw.choice([1, 2, 4])) if draw.random() < 0.25 else 0
        nodes = 1 if gpus or draw.random() < 0.7 else int(draw.choice([2, 4]))
        cores = 4 * gpus or (32 if nodes > 1 else int(draw.choice([1, 2, 4, 8, 16, 32])))
        limit = int(draw.choice([60, 240, 720] if user == "dan" else [60, 240, 720, 1440]))
        run = max(30, int(60 * limit * float(draw.beta(1.4, 2.1))))
        may = USERS[user] != "genome" and limit <= 240 and nodes * cores <= 64
        qos = "urgent" if may and draw.random() < 0.3 else "normal"
        jobs[number] = (MONDAY + submit, user, qos, nodes, cores, run, limit, 3 * cores, gpus)
    return jobs


def _told(jobs: dict[int, Job], times: dict[int, tuple[int, int]]) -> str:
    """What sacct prints of the jobs, with when they started and ended."""
    lines = [HEADER]
    for number, (submit, user, qos, nodes, cores, _, limit, gb, gpus) in jobs.items():
        start, end = times[number]
        tres = f"cpu={nodes * cores},mem={nodes * gb}G,node={nodes}" + (f",gres/gpu={gpus}" if gpus else "")
        partition, name = ("gpu", "train") if gpus else ("cpu", "solve")
        moments = map(_date, (submit, start, end))
        fields = (number, name, user, USERS[user], qos, partition, "COMPLETED", *moments, limit, nodes)
        lines.append("|".join(map(str, (*fields, nodes * cores, f"{nodes * gb}G", tres))))
    return "\n".join([*lines, ""])


def _queue(jobs: dict[int, Job], times: dict[int, tuple[int, int]]) -> str:
    """What squeue prints at ``ASKED_AT``."""
    lines = [QUEUE_HEADER]
    for number, (submit, user, qos, nodes, cores, _, limit, gb, gpus) in jobs.items():
        start, end = times[number]
        if submit > ASKED_AT or end <= ASKED_AT:
            continue
        runs = start <= ASKED_AT
        state = ("RUNNING", _clock(ASKED_AT - start), _date(start)) if runs else ("PENDING", "0:00", "N/A")
        partition, name = ("gpu", "train") if gpus else ("cpu", "solve")
        asked = (nodes, nodes * cores, f"{gb}G", f"gres/gpu:{gpus}" if gpus else "N/A", _date(submit))
        fields = (number, user, USERS[user], qos, partition, *state, _clock(60 * limit), *asked)
        lines.append("|".join(map(str, (*fields, "None" if runs else "Resources", name))))
    return "\n".join([*lines, ""])


def _usage(jobs: dict[int, Job], times: dict[int, tuple[int, int]]) -> str:
    """What sshare prints at ``ASKED_AT``: processor seconds, half of which are left after each half-life."""
    used = dict.fromkeys(USERS, 0.0)
    for number, (_, user, qos, nodes, cores, *_) in jobs.items():
        start, end = (max(ASKED_AT - one, 0) for one in times[number])
        left = 0.5 ** (end / HALF_LIFE) - 0.5 ** (start / HALF_LIFE)
        used[user] += USAGE_FACTORS[qos] * nodes * cores * left * HALF_LIFE / math.log(2)
    rows = [line.split("|")[1:5] for line in DUMPS["sacctmgr_assoc.txt"].splitlines()[1:]]
    inside = {"root": [*USERS], "physics": [user for user in USERS if USERS[user] != "genome"]}
    lines = ["Account|User|RawShares|RawUsage"]
    for account, user, _, shares in rows:
        name = account.strip()
        whose = [user] if user else inside.get(name, [one for one in USERS if USERS[one] == name])
        lines.append(f"{account}|{user}|{shares}|{round(sum(used.get(one, 0.0) for one in whose))}")
    return "\n".join([*lines, ""])


def _date(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _clock(seconds: int) -> str:
    """As squeue prints how long something takes: ``5:07``, ``2:05:07``, ``1-02:05:07``."""
    days, rest = divmod(seconds, 86400)
    clock = f"{rest // 60 % 60:02}:{rest % 60:02}"
    return (f"{days}-" if days else "") + (f"{rest // 3600:02}:" if days or rest >= 3600 else "") + clock


if __name__ == "__main__":
    main(*sys.argv[1:2])
