"""Why a key of a slurm.conf changes nothing here."""

from __future__ import annotations

import re

NOT_MODELLED = "not modelled"
UNKNOWN = "not a key that this reader knows"

DAEMONS = "where daemons, files and networks are, and who speaks to them, does not change a schedule"
LAUNCH = "how jobs are launched, watched and cleaned up is not modelled"
ACCOUNTING = "accounting of what ran does not change a schedule"
ACCESS = "who may use it is not checked: the jobs of a trace were let in"
ADMISSION = "how many jobs the daemon takes or remembers is not limited here"
LIMITS = "limits by association and QOS are not in this version"
PREEMPTION = "preemption is not in this version"
NETWORK = "the network is not modelled: any free nodes will do"
POWER = "nodes are on all the time here"
SHARING = "a job has its nodes to itself here; cores and memory only rule out nodes that are too small"
SITE_CODE = "code of the site is not run"
REQUEUE = "a job runs once, unless a trace or a process says otherwise"
NO_TIME = "a pass takes no time here, so it is never cut short or interrupted"
MOVED = "Slurm 22.05 reads it in DependencyParameters alone"

RUNNING = "priorities of running jobs decide nothing without preemption"

HARMLESS = (DAEMONS, ACCOUNTING, ACCESS, NO_TIME, RUNNING)
"""Reasons for which a schedule is the same without; the others may change it."""

_TOP = {
    PREEMPTION: r"preempt.*|schedulertimeslice",
    POWER: r"(suspend|resume|power).*",
    NETWORK: r"(topology|switch|route).*|treewidth",
    SHARING: r"selecttypeparameters|(def|max)(mem|cpu)per.*|defcpupergpu|grestypes|jobdefaults",
    LIMITS: r"accountingstorageenforce",
    ACCOUNTING: r"(accounting|jobacct|jobcomp|acctgather|job_?container).*|track_?wckey",
    SITE_CODE: r"jobsubmitplugins|clifilterplugins|prioritysite.*|lua.*",
    ADMISSION: r"max(jobcount|jobid|arraysize|stepcount|taskspernode|nodecount|batchrequeue)|minjobage"
    r"|firstjobid",
    NOT_MODELLED: r"completewait|priorityparameters|max_?switch.*",
    REQUEUE: r"jobrequeue|requeueexit.*",
    LAUNCH: r"(prolog|epilog|srun|task|proctrack|mpi|launch|unkillable|healthcheck|propagate|reboot|core|x11"
    r"|burstbuffer|batchstart|killonbadexit|jobfile|jobcredential|waittime|inactivelimit|usepam|plugstack"
    r"|vsizefactor|returntoservice|allowspec|disablerootjobs|memlimitenforce|mcs|resv).*",
    DAEMONS: r"(slurm|control|backup|auth|cred|crypto|communication|statesave|mail|plugin|log|debug|tmpfs"
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
    LIMITS: r"qos",
    PREEMPTION: r"preemptmode|gracetime",
    SHARING: r"(def|max)(mem|cpu|cpus)per.*|maxcpuspersocket|selecttypeparameters|jobdefaults|lln"
    r"|exclusiveuser|cpubind|oversubscribe|shared",
    NETWORK: r"topology|exclusivetopo",
    POWER: r"suspendtime|suspendtimeout|resumetimeout|powerdownonidle",
    NOT_MODELLED: r"overtimelimit|tresbillingweights|alternate",
}
_PARAMETER = {
    NO_TIME: r"bf_(continue|max_time|yield_.*)|max_sched_time|max_rpc_cnt|build_queue_timeout",
    MOVED: r"kill_invalid_depend",
    PREEMPTION: r"preempt_.*|reclaim.*",
    NETWORK: r"max_switch_wait|bf_topo.*|topo.*",
    SHARING: r"pack_serial_at_end|spec_cores_first|bf_busy_nodes",
    LAUNCH: r"(salloc|sbatch)_wait_nodes|.*_env_cache|nohold_on_prolog_fail|delay_boot=?.*",
}
_BY_KIND = {"top": _TOP, "node": _NODE, "partition": _PARTITION, "parameter": _PARAMETER}


def why_ignored(kind: str, key: str) -> str:
    """Say why a key changes nothing: ``top``, ``node``, ``partition``, or ``parameter`` of a list."""
    for why, pattern in _BY_KIND[kind].items():
        if re.fullmatch(pattern, key.lower()):
            return why
    return NOT_MODELLED if kind == "parameter" else UNKNOWN
