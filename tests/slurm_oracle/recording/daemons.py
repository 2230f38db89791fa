"""What all clusters of a recording need beside them: munge, and a database for those with accounts."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.slurm_oracle.recording.cluster import DATABASE_PORT

MYSQL_PORT = 13306
PATIENCE_S = 60
USERS = ("slurm@localhost", "slurm@'127.0.0.1'")


@contextmanager
def munge() -> Iterator[None]:
    """Have munge run; one that runs already is used, and left running."""
    if subprocess.run(["munge", "-n"], capture_output=True).returncode == 0:
        yield
        return
    subprocess.run(["install", "-d", "-o", "munge", "-g", "munge", "/run/munge"], check=True)
    subprocess.run(["su", "-s", "/bin/sh", "munge", "-c", "/usr/sbin/munged"], check=True)
    try:
        yield
    finally:
        subprocess.run(["pkill", "-x", "munged"])


@contextmanager
def database(folder: Path) -> Iterator[None]:
    """Have MariaDB and slurmdbd run, with their files in a folder."""
    data, socket = folder / "mysql", folder / "mysql" / "socket"
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    install = ["mariadb-install-db", f"--datadir={data}", "--user=mysql", "--skip-test-db"]
    subprocess.run(install, check=True, capture_output=True)
    options = (f"--datadir={data}", f"--socket={socket}", f"--port={MYSQL_PORT}", "--user=mysql")
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    server = subprocess.Popen(["mariadbd", *options, "--bind-address=127.0.0.1"], **silent)
    (folder / "slurm.conf").write_text("ClusterName=none\nSlurmctldHost=localhost\n")
    conf = folder / "slurmdbd.conf"
    conf.write_text(
        f"DbdHost=localhost\nDbdAddr=127.0.0.1\nDbdPort={DATABASE_PORT}\nSlurmUser=root\n"
        f"AuthType=auth/munge\nStorageType=accounting_storage/mysql\nStorageHost=127.0.0.1\n"
        f"StoragePort={MYSQL_PORT}\nStorageUser=slurm\nStoragePass=slurm\n"
        f"LogFile={folder}/slurmdbd.log\nPidFile={folder}/slurmdbd.pid\n"
    )
    conf.chmod(0o600)
    grants = "".join(
        f"create user {user} identified by 'slurm'; grant all on *.* to {user};" for user in USERS
    )
    keeper: subprocess.Popen[bytes] | None = None
    try:
        _until(["mariadb", "-S", str(socket), "-e", grants])
        env = os.environ | {"SLURM_CONF": str(folder / "slurm.conf")}
        keeper = subprocess.Popen(["slurmdbd", "-D"], env=env, **silent)
        _until(["grep", "-q", "slurmdbd version", f"{folder}/slurmdbd.log"])
        yield
    finally:
        for process in (keeper, server):
            if process is not None:
                process.terminate()
                process.wait()


def _until(command: list[str]) -> None:
    """Call a command until it succeeds; raises RuntimeError if it does not in ``PATIENCE_S``."""
    until = time.time() + PATIENCE_S
    while (done := subprocess.run(command, capture_output=True, text=True)).returncode:
        if time.time() > until:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr}")
        time.sleep(1)
