"""A Slurm cluster on this machine for the time of a recording: its files, its daemons, its commands."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.slurm_oracle.second_set import expanded

PORTS = 100
"""So many ports a cluster has: one a node, the last for slurmctld."""

SETTINGS = (
    *("SlurmUser=root", "SlurmdUser=root", "AuthType=auth/munge", "CredType=cred/munge"),
    *("CommunicationParameters=NoCtldInAddrAny,NoInAddrAny", "LogTimeFormat=iso8601_ms"),
    *("ProctrackType=proctrack/pgid", "TaskPlugin=task/none", "JobAcctGatherType=jobacct_gather/none"),
    *("MpiDefault=none", "ReturnToService=2", "SlurmdTimeout=300", "SlurmctldTimeout=120"),
    *("SlurmdParameters=config_overrides", "MaxJobCount=20000", "SwitchType=switch/none", "TreeWidth=64"),
    *("KillWait=2", "OverTimeLimit=0", "MinJobAge=7200", "SlurmctldDebug=debug", "SlurmdDebug=info"),
)
"""As in the recordings of ``slurm_oracle_2``; what a case says itself comes after them."""

DATABASE_PORT = 17900
DEVICES = 8
"""Files that stand for GPUs: copies of /dev/null."""


@dataclass
class Cluster:
    """The cluster of a case.

    Attributes
    ----------
    name : of the recording; case : as its file has it
    folder : where all of its files are
    port : the first of its ports
    """

    name: str
    case: dict[str, Any]
    folder: Path
    port: int
    host: str = field(default_factory=socket.gethostname)

    @property
    def label(self) -> str:
        """Its name in slurm.conf and in the database."""
        return re.sub(r"[^a-z0-9]", "", self.name.lower())

    @property
    def log(self) -> Path:
        """Where slurmctld logs."""
        return self.folder / "slurmctld.log"

    @cached_property
    def settings(self) -> list[str]:
        """The lines of slurm.conf that tell how it schedules."""
        of_case = [f"{key}={value}" for key, value in self.case["slurm_conf"].items() if value is not None]
        expire = self.case.get("cred_expire")
        kind = "slurmdbd" if self.case.get("accounting") else "none"
        return [
            f"ClusterName={self.label}",
            f"SlurmctldHost={self.host}(127.0.0.1)",
            f"SlurmctldPort={self.port + PORTS - 1}",
            *SETTINGS,
            *([f"AuthInfo=cred_expire={expire}"] if expire else []),
            *of_case,
            f"AccountingStorageType=accounting_storage/{kind}",
            *([f"AccountingStoragePort={DATABASE_PORT}"] if kind == "slurmdbd" else []),
            *self._machine(),
        ]

    def _machine(self) -> Iterator[str]:
        port = self.port
        for spec in self.case["nodes"]:
            last = port + len(expanded(spec["names"])) - 1
            ports = f"{port}-{last}" if last > port else f"{port}"
            where = f"NodeHostname={self.host} NodeAddr=127.0.0.1 Port={ports}"
            yield f"NodeName={spec['names']} {where} {spec['opts']} State=UNKNOWN"
            port = last + 1
        for part in self.case["partitions"]:
            yield f"PartitionName={part['name']} Nodes={part['nodes']} {part['opts']}"

    @cached_property
    def nodes(self) -> list[str]:
        """Names of its nodes."""
        return [name for spec in self.case["nodes"] for name in expanded(spec["names"])]

    def write(self) -> None:
        """Write slurm.conf, topology.conf where there are switches, and gres.conf where there are GPUs."""
        for part in ("state", "spool", "devices"):
            (self.folder / part).mkdir(parents=True)
        files = (
            f"StateSaveLocation={self.folder}/state",
            f"SlurmdSpoolDir={self.folder}/spool/%n",
            f"SlurmctldPidFile={self.folder}/slurmctld.pid",
            f"SlurmdPidFile={self.folder}/%n.pid",
            f"SlurmctldLogFile={self.log}",
            f"SlurmdLogFile={self.folder}/%n.log",
        )
        (self.folder / "slurm.conf").write_text("\n".join([*self.settings, *files, ""]))
        if switches := self.case.get("topology_conf"):
            (self.folder / "topology.conf").write_text("\n".join([*switches, ""]))
        if gres := self.case.get("gres_conf"):
            for number in range(DEVICES):
                device = self.folder / "devices" / f"gpu{number}"
                os.mknod(device, 0o666 | 0o020000, os.makedev(1, 3))
            text = "\n".join(gres).replace("GPUDIR", str(self.folder / "devices"))
            (self.folder / "gres.conf").write_text(f"{text}\n")

    def call(self, *command: str, script: str | None = None) -> tuple[int, str]:
        """Call a command of Slurm's; return its exit code and what it printed."""
        env = os.environ | {"SLURM_CONF": str(self.folder / "slurm.conf")}
        done = subprocess.run(command, env=env, input=script, capture_output=True, text=True, timeout=60)
        return done.returncode, (done.stdout + done.stderr).strip()

    def enter_accounts(self) -> None:
        """Tell the database of the cluster's accounts and QOS; some may be there already."""
        self.call("sacctmgr", "-i", "add", "cluster", self.label)
        for command in self.case.get("accounting", []):
            code, said = self.call(
                "sacctmgr", "-i", *(word.replace("CLUSTER", self.label) for word in command)
            )
            if code and "already exist" not in said and "Nothing new" not in said:
                raise RuntimeError(f"{self.name}: sacctmgr {' '.join(command)}: {said}")

    def start_nodes(self) -> None:
        """Start a slurmd for each node."""
        for node in self.nodes:
            self.call("slurmd", "-N", node)

    def start_controller(self, patience_s: float) -> None:
        """Start slurmctld and wait for all nodes; raises RuntimeError if they are late."""
        code, said = self.call("slurmctld", "-i")
        if code:
            raise RuntimeError(f"{self.name}: slurmctld: {said}")
        until = time.time() + patience_s
        while time.time() < until:
            _, said = self.call("sinfo", "-h", "-N", "-o", "%N %T")
            idle = {line.split()[0] for line in said.splitlines() if line.endswith(" idle")}
            if idle >= set(self.nodes):
                return
            time.sleep(0.4)
        raise RuntimeError(f"{self.name}: some nodes are not idle: {said}")

    def stop(self) -> None:
        """Stop its daemons."""
        for pid in self.folder.glob("*.pid"):
            try:
                os.kill(int(pid.read_text()), signal.SIGTERM)
            except (OSError, ValueError):  # it has ended already
                continue
