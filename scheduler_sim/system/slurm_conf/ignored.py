"""Why a key of a slurm.conf, or of the gres.conf beside it, changes nothing here.

Parameters of SchedulerParameters are listed one by one, after slurm.conf(5) of Slurm 22.05 and 19.05:
the list is in docs/reference/slurm.md, and answers whoever sets one under ``policy.slurm``.
"""

from __future__ import annotations

import re

from scheduler_sim.system.slurm_conf.known_keys import MISSPELT, is_known, misspelt

NOT_MODELLED = "not modelled"

DAEMONS = "the location of daemons, files and networks, and access to them, do not change a schedule"
FOUND_BESIDE = "the folder of an included file: the file of that name beside the slurm.conf is read"
EPILOG = "how long it takes is not known here: policy.slurm.epilog_s says it, and main passes behind it then"
LAUNCH = "how jobs are launched, watched and cleaned up is not modelled"
ACCOUNTING = "accounting of what ran does not change a schedule"
ACCESS = "access is not checked: the jobs of a trace were accepted"
ADMISSION = "how many jobs the daemon accepts or remembers is not limited here"
LIMITS = "the limits are in the accounting database: here they are those of policy.slurm.qos and accounts"
PREEMPTION = (
    "preemption where jobs share cores is not modelled other than by suspension, and that"
    " neither by QOS nor beside other modes, nor on whole nodes with a partition without"
    " OverSubscribe=FORCE:1; turns only where jobs share nodes"
)
BY_PRIORITY = "that jobs preempt others of their own QOS, or only those of lower priority, is not modelled"
NO_TURNS = "jobs take turns only where they share nodes, with GANG in PreemptMode"
TOO_SHORT = "less than 5 s, so Slurm takes 30 s instead"
NETWORK = "the network is not modelled: any free nodes are used"
NO_TOPOLOGY_CONF = "there is no topology.conf in its folder: any free nodes are used"
NO_TOPOLOGY_PLUGIN = "TopologyPlugin is neither topology/tree nor topology/block: Slurm does not read it"
PARTLY_ON_SWITCHES = (
    "nodes that jobs may have are on no switch or in no block, which is not modelled: any free nodes are used"
)
ON_NO_SWITCH = "on no switch of topology.conf, so that no job gets them, as in Slurm: left out of the system"
OTHER_TOPOLOGY = "only trees and blocks are modelled as topologies: any free nodes are used"
ROUTES = "the routes of messages do not change a schedule"
POWER = "this part of power saving is not modelled"
NO_POWER_SAVING = (
    "Slurm powers no node down without SuspendTime, SuspendProgram and ResumeProgram: all three are needed"
)
NODES_ARE_ON = "nodes stay on where jobs are suspended, or take turns"
OF_EACH_MODULE = "with nodes of several modules, this number stays on in each, not in all together"
PROGRAMS = "the way nodes are switched does not change a schedule: the power profile gives the time of boots"
SHARING = "this aspect of shared nodes is not modelled"
OF_STEPS = "how the tasks of a step are laid out on nodes that a job has does not change a schedule"
IN_TURN = "cores of a node are allocated from each socket in turn"
OF_EACH_THREAD = "a job has tasks on all threads of a core"
ALSO_CORES = "none of CR_CPU, CR_Core and CR_Socket: cons_tres would not start, and gives out cores here"
SAME_NODES = "sharing of whole nodes by several jobs is not modelled"
TOO_FEW = "this number of jobs is not valid, so Slurm uses NO instead"
NOT_ENFORCED = "Slurm 22.05 keeps this limit, but enforces it nowhere"
SITE_CODE = "the site's own code is not run"
NO_EFFECT_BY_DEFAULT = "this is the behaviour anyway"
REQUEUE = "a job runs once, unless a trace or a process says otherwise"
NO_TIME = "a pass takes no time here, so it is never cut short or interrupted"
TRES = "only cpu, mem, node and billing have a weight here: what jobs ask of other resources is not known"
OUTSIDE = "a parameter outside its list: a blank ends the list; begin continuation lines in the first column"
MOVED = "Slurm 22.05 reads it in DependencyParameters alone"

BOUND = "GPUs and other resources are not bound to cores here, nor to each other: any of the node will do"
DETECTED = "the hardware is not known here: nodes have what Gres= of the slurm.conf states"
LAUNCH_OF_DEVICES = "information to jobs about their devices does not change a schedule"
PIECES = (
    "pieces of GPUs (shard, mps) are counted for each node: it is not modelled that"
    " those of a job are on one GPU, nor that a GPU with pieces in use is not"
    " allocated as a whole"
)
WHOLE_NODES = "jobs that have whole nodes have all generic resources of these here"
NO_SUCH_NODE = "no NodeName of the slurm.conf has these nodes"
NOT_IN_GRES = "Gres= of these nodes has no such resource, or not of this type: discarded, as in Slurm"
NO_TYPE_IN_GRES = (
    "Gres= of its nodes states no type, so that these have none, as in Slurm: no job can ask for it"
)
OTHER_COUNT = "Gres= of these nodes has another number, which counts, as in Slurm"
NEVER_USED_UP = "resources that are not consumed are counted as others are here"

RECORDS = "how the daemon keeps its records does not change a schedule"
HETEROGENEOUS = "components of heterogeneous jobs are in the queue by their own priorities"

RUNNING = "priorities of running jobs decide nothing without preemption"

WEIGHED = ("cpu", "mem", "node", "billing")
"""Resources whose weight in PriorityWeightTRES counts here."""

SCHEDULER = "schedulerparameters"
_OF_POLICY = (SCHEDULER, "dependencyparameters", "preemptparameters")

HARMLESS = (
    *(ROUTES, DAEMONS, ACCOUNTING, ACCESS, NO_TIME, RECORDS, RUNNING, DETECTED, LAUNCH_OF_DEVICES, OF_STEPS),
    *(NO_EFFECT_BY_DEFAULT, NO_TURNS, NO_POWER_SAVING, PROGRAMS, NOT_ENFORCED, FOUND_BESIDE),
)
"""Reasons for which a schedule is the same without; the others may change it."""

_STARTS_FIRST = (
    *(OUTSIDE, PREEMPTION, BY_PRIORITY, NETWORK, NO_TOPOLOGY_CONF, PARTLY_ON_SWITCHES, OTHER_TOPOLOGY),
    *(ON_NO_SWITCH, LIMITS, SAME_NODES, SHARING, TRES, HETEROGENEOUS, MOVED),
)
_LAUNCHING_LAST = (POWER, SITE_CODE, ADMISSION, REQUEUE, LAUNCH)


def rank(why: str) -> int:
    """Where a reason stands among others: what decides when jobs start first, how they are launched last."""
    if why.startswith(MISSPELT) or why in _STARTS_FIRST:
        return 0
    return 2 + _LAUNCHING_LAST.index(why) if why in _LAUNCHING_LAST else 1


_TOP = {
    PREEMPTION: r"preempt.*",
    PROGRAMS: r"suspendprogram|resume(fail)?program",
    POWER: r"(suspend|resume|power).*",
    NETWORK: r"switch.*",
    ROUTES: r"route.*|treewidth",
    SHARING: r"(def|max)(mem|cpu)per.*",
    ACCOUNTING: r"(accounting|jobacct|jobcomp|acctgather|job_?container).*|track_?wckey",
    SITE_CODE: r"jobsubmitplugins|clifilterplugins|prioritysite.*|lua.*",
    ADMISSION: r"max(jobcount|jobid|arraysize|stepcount|taskspernode|nodecount|batchrequeue)|minjobage"
    r"|firstjobid",
    NOT_MODELLED: r"completewait|priorityparameters|max_?switch.*",
    REQUEUE: r"requeueexit.*",
    EPILOG: r"epilog",
    LAUNCH: r"(prolog|epilog|srun|task|proctrack|mpi|launch|unkillable|healthcheck|propagate|reboot|core|x11"
    r"|burstbuffer|batchstart|killonbadexit|jobfile|jobcredential|waittime|inactivelimit|usepam|plugstack"
    r"|vsizefactor|returntoservice|allowspec|disablerootjobs|memlimitenforce|mcs|resv).*",
    DAEMONS: r"grestypes|(slurm|control|backup|auth|cred|crypto|communication|statesave|mail|plugin|log|debug"
    r"|tmpfs"
    r"|federation|ext|sbcast|bcast|tcp|eio|keepalive|hash|interactive|privatedata|groupupdate|message|getenv"
    r"|dumpfile|fastschedule|cachegroups|checkpoint|jobcheckpoint|scheduler(auth|port|rootfilter)|cluster|gpufreq|layouts|proxy|scron|maxdbdmsgs|nodefeatures|data|certmgr|tls).*",
}
_NODE = {
    DAEMONS: r"nodehostname|nodeaddr|bcastaddr|port|reason|certtoken",
    SHARING: r"corespeccount|cpuspeclist|memspeclimit|restrictedcorespergpu|tmpdisk|cpubind|gpuspec.*",
    NETWORK: r"topology",
}
_PARTITION = {
    ACCESS: r"(allow|deny)(accounts|groups|qos)|allocnodes|hidden|rootonly|disablerootjobs|reqresv",
    PREEMPTION: r"preemptmode|gracetime",
    SHARING: r"(def|max)(mem|cpu|cpus)per.*|maxcpuspersocket|selecttypeparameters"
    r"|exclusiveuser|cpubind|oversubscribe|shared",
    NETWORK: r"topology|exclusivetopo",
    POWER: r"suspendtime|suspendtimeout|resumetimeout|powerdownonidle",
    NOT_MODELLED: r"overtimelimit|tresbillingweights|alternate",
}
_PARAMETERS_BY_REASON = {
    NO_TIME: "bf_continue bf_max_time bf_yield_interval bf_yield_sleep build_queue_timeout max_rpc_cnt"
    " max_sched_time",
    RECORDS: "correspond_after_task_cnt disable_job_shrink enable_job_state_cache max_depend_depth",
    DAEMONS: "inventory_interval no_backup_scheduling",
    ACCESS: "enable_user_top",
    MOVED: "kill_invalid_depend",
    PREEMPTION: "preempt_send_user_signal",
    HETEROGENEOUS: "bf_hetjob_immediate bf_hetjob_prio whole_hetjob whole_pack",
    SHARING: "ignore_numa pack_serial_at_end spec_cores_first",
    NETWORK: "bf_topopt_enable bf_topopt_iterations",
    ADMISSION: "max_array_tasks max_script_size max_submit_line_size",
    LAUNCH: "bb_array_stage_cnt delay_boot disable_hetjob_steps enable_hetjob_steps no_env_cache"
    " nohold_on_prolog_fail requeue_setup_env_fail salloc_wait_nodes sbatch_wait_nodes step_retry_count"
    " step_retry_time",
    NO_EFFECT_BY_DEFAULT: "assoc_limit_continue",
    NOT_MODELLED: "allow_zero_lic bf_busy_nodes bf_licenses bf_max_job_assoc"
    " defer_batch extra_constraints ignore_prefer_validation permit_job_expansion reduce_completing_frag"
    " sched_max_job_start time_min_as_soft_limit",
}
PARAMETERS = {name: why for why, names in _PARAMETERS_BY_REASON.items() for name in names.split()}
"""Each parameter of SchedulerParameters that is no key of ``policy.slurm``, and why."""

_PARAMETER = {
    PREEMPTION: r"preempt_.*|reclaim.*|send_user_signal|min_exempt_priority|suspend_grace_time",
    NETWORK: r"(bf_)?topo.*",
}
_BY_KIND = {"top": _TOP, "node": _NODE, "partition": _PARTITION, "parameter": _PARAMETER}


def why_ignored(kind: str, key: str) -> str:
    """Say why a key changes nothing: ``top``, ``node``, ``partition``, or ``parameter`` of a list."""
    if kind == "parameter":
        return _why_parameter(key)
    if not is_known(kind, key):
        return OUTSIDE if kind == "top" and is_known(SCHEDULER, key) else misspelt([kind], key)
    return _by_pattern(kind, key)


def _why_parameter(key: str) -> str:
    if key.lower() in PARAMETERS:
        return PARAMETERS[key.lower()]
    known = any(is_known(those, key) for those in _OF_POLICY)
    return _by_pattern("parameter", key) if known else misspelt(_OF_POLICY, key)


def _by_pattern(kind: str, key: str) -> str:
    return next(
        (why for why, those in _BY_KIND[kind].items() if re.fullmatch(those, key.lower())), NOT_MODELLED
    )
