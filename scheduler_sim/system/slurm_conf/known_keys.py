"""Every key of slurm.conf(5), from Slurm 17.11 to 26.05: what is none of them is misspelt."""

from __future__ import annotations

from collections.abc import Iterable

from scheduler_sim.errors import did_you_mean

MISSPELT = "no key of Slurm"

_KEYS = {
    "top": """
AccountingStorageBackupHost AccountingStorageEnforce AccountingStorageExternalHost AccountingStorageHost
AccountingStorageLoc AccountingStorageParameters AccountingStoragePass AccountingStoragePort
AccountingStorageTRES AccountingStorageType AccountingStorageUser AccountingStoreFlags
AccountingStoreJobComment AcctGatherEnergyType AcctGatherFilesystemType AcctGatherInfinibandType
AcctGatherInterconnectType AcctGatherNodeFreq AcctGatherProfileType AllowSpecResourcesUsage
AuthAltParameters AuthAltTypes AuthInfo AuthType BackupAddr BackupController BatchStartTimeout
BcastExclude BcastParameters BurstBufferParameters BurstBufferType CacheGroups CertgenParameters
CertgenType CertmgrParameters CertmgrType CheckpointType ChosLoc CliFilterParameters CliFilterPlugins
ClusterName CommunicationParameters CompleteWait ControlAddr ControlMachine CoreSpecPlugin CpuFreqDef
CpuFreqGovernors CredType CryptoType DataParserParameters DebugFlags DefaultStorageHost DefaultStorageLoc
DefaultStoragePass DefaultStoragePort DefaultStorageType DefaultStorageUser DefCPUPerGPU DefMemPerCPU
DefMemPerGPU DefMemPerNode DependencyParameters DisableRootJobs DownNodes EioTimeout EnforcePartLimits
Epilog EpilogMsgTime EpilogSlurmctld EpilogTimeout ExtSensorsFreq ExtSensorsType FairShareDampeningFactor
FastSchedule FederationParameters FirstJobId FrontendName GetEnvTimeout GpuFreqDef GresTypes
GroupUpdateForce GroupUpdateTime HashPlugin HealthCheckInterval HealthCheckNodeState HealthCheckProgram
HealthCheckTimeout HttpParserType InactiveLimit InteractiveStepOptions JobAcctGatherFrequency
JobAcctGatherParams JobAcctGatherType JobCheckpointDir JobCompHost JobCompLoc JobCompParams JobCompPass
JobCompPassScript JobCompPort JobCompType JobCompUser JobContainerType JobCredentialPrivateKey
JobCredentialPublicCertificate JobFileAppend JobRequeue JobSubmitPlugins KeepAliveTime KillOnBadExit
KillWait LaunchParameters LaunchType Layouts LicenseParameters Licenses LogTimeFormat MailDomain MailProg
MaxArraySize MaxBatchRequeue MaxDBDMsgs MaxJobCount MaxJobId MaxMemPerCPU MaxMemPerNode MaxNodeCount
MaxStepCount MaxTasksPerNode MCSParameters MCSPlugin MemLimitEnforce MessageTimeout MetricsAuthUsers
MetricsParameters MetricsType MinJobAge MpiDefault MpiParams MsgAggregationParams NamespaceType
NodeFeaturesPlugins NodeName NodeSet OverTimeLimit PartitionName PluginDir PlugStackConfig PowerAction
PowerParameters PowerPlugin PreemptExemptTime PreemptMode PreemptParameters PreemptType PrEpParameters
PrEpPlugins PriorityCalcPeriod PriorityDecayHalfLife PriorityFavorSmall PriorityFlags PriorityMaxAge
PriorityParameters PrioritySiteFactorParameters PrioritySiteFactorPlugin PriorityType
PriorityUsageResetPeriod PriorityWeightAge PriorityWeightAssoc PriorityWeightFairshare
PriorityWeightJobSize PriorityWeightPartition PriorityWeightQOS PriorityWeightTRES PrivateData
ProctrackType Prolog PrologEpilogTimeout PrologFlags PrologSlurmctld PrologTimeout PropagatePrioProcess
PropagateResourceLimits PropagateResourceLimitsExcept RebootProgram ReconfigFlags RequeueExit
RequeueExitHold ResumeFailProgram ResumeProgram ResumeRate ResumeTimeout ResvEpilog ResvOverRun ResvProlog
ReturnToService RoutePlugin SallocDefaultCommand SbcastParameters SchedulerAuth SchedulerParameters
SchedulerPort SchedulerRootFilter SchedulerTimeSlice SchedulerType ScronParameters SelectType
SelectTypeParameters SlurmctldAddr SlurmctldDebug SlurmctldHost SlurmctldHttpAuthParameters
SlurmctldLogFile SlurmctldParameters SlurmctldPidFile SlurmctldPlugstack SlurmctldPort
SlurmctldPrimaryOffProg SlurmctldPrimaryOnProg SlurmctldSyslogDebug SlurmctldTimeout SlurmdDebug
SlurmdHttpAuthParameters SlurmdLogFile SlurmdParameters SlurmdPidFile SlurmdPort SlurmdSpoolDir
SlurmdSyslogDebug SlurmdTimeout SlurmdUser SlurmSchedLogFile SlurmSchedLogLevel SlurmUser SrunEpilog
SrunPortRange SrunProlog StateSaveLocation SuspendExcNodes SuspendExcParts SuspendExcStates SuspendProgram
SuspendRate SuspendTime SuspendTimeout SwitchParameters SwitchType TaskEpilog TaskPlugin TaskPluginParam
TaskProlog TCPTimeout TLSParameters TLSType TmpFS TopologyParam TopologyPlugin TrackWCKey TreeWidth
UnkillableStepProgram UnkillableStepTimeout UrlParserType UsePAM VSizeFactor WaitTime X11Parameters
""",
    "node": """
BcastAddr Boards CoreSpecCount CoresPerSocket CpuBind CPUs CPUSpecList Feature Features Gres GresConf
MemSpecLimit NodeAddr NodeHostname Parameters Port Procs RealMemory Reason RestrictedCoresPerGPU Sockets
SocketsPerBoard State SuspendTime ThreadsPerCore TmpDisk Topology TRESWeights Weight
""",
    "partition": """
AllocNodes AllowAccounts AllowGroups AllowQos Alternate CpuBind Default DefaultTime DefCPUPerGPU
DefMemPerCPU DefMemPerGPU DefMemPerNode DenyAccounts DenyQos DisableRootJobs Exclusive ExclusiveTopo
ExclusiveUser GraceTime Hidden LLN MaxCPUsPerNode MaxCPUsPerSocket MaxMemPerCPU MaxMemPerNode MaxNodes
MaxTime MinNodes Nodes OverSubscribe OverTimeLimit PowerDownOnIdle PreemptMode Priority PriorityJobFactor
PriorityTier QOS ReqResv ResumeTimeout RootOnly SelectTypeParameters Shared State SuspendTime
SuspendTimeout Topology TRESBillingWeights
""",
}

_LISTS = {
    "schedulerparameters": """
allow_zero_lic assoc_limit_continue assoc_limit_stop batch_sched_delay bb_array_stage_cnt
bf_allow_magnetic_slot bf_busy_nodes bf_continue bf_hetjob_immediate bf_hetjob_prio bf_interval
bf_job_part_count_reserve bf_licenses bf_max_job_array_resv bf_max_job_assoc bf_max_job_part
bf_max_job_start bf_max_job_test bf_max_job_user bf_max_job_user_part bf_max_time bf_min_age_reserve
bf_min_prio_reserve bf_node_space_size bf_one_resv_per_job bf_resolution bf_running_job_reserve
bf_topopt_enable bf_topopt_iterations bf_window bf_window_linear bf_yield_interval bf_yield_rpc_cnt
bf_yield_rpc_count bf_yield_sleep build_queue_timeout correspond_after_task_cnt default_gbytes
default_queue_depth defer defer_batch delay_boot disable_hetero_steps disable_hetjob_steps
disable_job_shrink enable_hetero_steps enable_hetjob_steps enable_job_state_cache enable_user_top
extra_constraints Ignore_NUMA ignore_prefer_validation inventory_interval kill_invalid_depend
max_array_tasks max_depend_depth max_job_bf max_rpc_cnt max_rpc_count max_sched_time max_script_size
max_submit_line_size max_switch_wait no_backup_scheduling no_env_cache nohold_on_prolog_fail
pack_serial_at_end partition_job_depth permit_job_expansion preempt_reorder_count preempt_send_user_signal
preempt_strict_order preempt_youngest_first reduce_completing_frag requeue_setup_env_fail
salloc_wait_nodes sbatch_wait_nodes sched_interval sched_max_job_start sched_min_interval spec_cores_first
step_retry_count step_retry_time time_min_as_soft_limit whole_hetjob whole_pack
""",
    "dependencyparameters": """
disable_remote_singleton kill_invalid_depend max_depend_depth
""",
    "preemptparameters": """
min_exempt_priority reclaim_licenses reorder_count send_user_signal strict_order suspend_grace_time
youngest_first
""",
    "launchparameters": """
batch_step_set_cpu_freq cray_net_exclusive disable_send_gids enable_nss_slurm lustre_no_flush mem_sort
mpir_use_nodeaddr send_gids slurmstepd_memlock slurmstepd_memlock_all srun_exclusive_allocation test_exec
ulimit_pam_adopt use_interactive_step
""",
    "slurmctldparameters": """
allow_user_triggers cloud_dns cloud_reg_addrs conmgr_connect_timeout conmgr_max_connections
conmgr_quiesce_timeout conmgr_read_timeout conmgr_threads conmgr_use_poll conmgr_wait_write_delay
conmgr_write_timeout disable_triggers enable_async_reply enable_configless enable_expedited_requeue
enable_job_state_cache enable_rpc_queue enable_stepmgr idle_on_node_suspend max_dbd_msg_action
max_powered_nodes no_quick_restart node_reg_mem_percent power_save_interval power_save_min_interval
preempt_send_user_signal reboot_from_controller reconfig_on_restart rl_bucket_size rl_enable rl_log_freq
rl_refill_period rl_refill_rate rl_table_size user_resv_delete validate_nodeaddr_threads
""",
}
"""The parameters of lists whose words are looked at, by the key of the list in small letters."""

_WORDS = {where: words.split() for where, words in (_KEYS | _LISTS).items()}
_IN_SMALL_LETTERS = {where: {word.lower() for word in words} for where, words in _WORDS.items()}


def is_known(where: str, name: str) -> bool:
    """Whether Slurm has a key ``top``, of a ``node``, of a ``partition``; or a parameter in a list."""
    return where not in _IN_SMALL_LETTERS or name.lower() in _IN_SMALL_LETTERS[where]


def misspelt(where: Iterable[str], name: str) -> str:
    """Say that Slurm has no such key or parameter in any of these, and which is the nearest."""
    there = [word for one in where for word in _WORDS[one]]
    return f"{MISSPELT}{did_you_mean(name[:80], there)}"
