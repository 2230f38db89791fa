"""The release of Slurm that a slurm.conf is for, at least: earlier ones do not start with keys they lack."""

from __future__ import annotations

from collections.abc import Iterable

from scheduler_sim.system.slurm_conf.lines import Pair, Record

_FIRST_IN = {
    "23.02": "MaxBatchRequeue MaxCPUsPerSocket PowerDownOnIdle PreemptParameters SuspendExcStates",
    "24.05": "ExclusiveTopo HashPlugin RestrictedCoresPerGPU TLSParameters TLSType",
    "24.11": "CertmgrParameters CertmgrType DataParserParameters",
    "25.05": "CertgenParameters CertgenType EpilogTimeout PrologTimeout Topology",
    "25.11": "CliFilterParameters GresConf HttpParserType JobCompPassScript MetricsType NamespaceType"
    " Parameters UrlParserType",
    "26.05": "HealthCheckTimeout LicenseParameters MetricsAuthUsers MetricsParameters PowerAction"
    " SlurmctldHttpAuthParameters SlurmdHttpAuthParameters",
}
"""Keys of the file, of nodes and partitions, by the first release whose src/common/read_config.c has them."""

_SINCE = {key.lower(): release for release, keys in _FIRST_IN.items() for key in keys.split()}


def release_by_keys(said: Iterable[Record | Pair]) -> tuple[str, Pair] | None:
    """Return the latest release that a key asks for, and the first key that does; None where all are old."""
    found: tuple[str, Pair] | None = None
    for one in said:
        for pair in one.pairs.values() if isinstance(one, Record) else (one,):
            release = _SINCE.get(pair.key.lower(), "")
            if release and (found is None or release > found[0]):
                found = release, pair
    return found
