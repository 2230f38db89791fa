"""What a person wants to know of a site's folder, as text: what was understood, what not, what is missing."""

from __future__ import annotations

from pathlib import Path

from scheduler_sim.cli.site_page import site_text
from scheduler_sim.cli.terminal import table
from scheduler_sim.report.wording import plain
from scheduler_sim.system.site_folder import SiteFolder
from scheduler_sim.system.slurm_conf.ignored import rank

NOT_READ = "not read: not a file name of a site"


def folder_text(folder: SiteFolder) -> str:
    """Return the whole page: the files, and all that the slurm.conf and the other files say and leave out."""
    return "\n\n".join([*_files_and_warnings(folder), site_text(folder.site, str(folder.conf))])


def folder_summary(folder: SiteFolder) -> str:
    """Return the page in short: the files, and how much is left out for which reason."""
    return "\n\n".join([*_files_and_warnings(folder), *_left_out(folder)])


def _files_and_warnings(folder: SiteFolder) -> list[str]:
    rows = [("file", "what it gave")]
    rows += [(plain(one.file), one.gave) for one in folder.understood]
    rows += [(plain(name), NOT_READ) for name in folder.unread]
    warnings = "\n".join(["warnings", *(f"  - {warning}" for warning in folder.warnings)])
    return [table(rows, left=2), *([warnings] if folder.warnings else [])]


def _left_out(folder: SiteFolder) -> list[str]:
    """A line for each reason, those that may matter first: for how many settings it is, and which."""
    keys: dict[tuple[bool, str], list[str]] = {}
    for one in folder.site.ignored:
        keys.setdefault((not one.matters, one.why), []).append(one.key)
    rows = [("left out", "settings", "may matter", "why")]
    width = len(rows[0][1])
    for (harmless, why), names in sorted(keys.items(), key=lambda item: (item[0][0], rank(item[0][1]))):
        first = list(dict.fromkeys(names))
        shown = ", ".join(plain(name) for name in first[:2]) + (", ..." if len(first) > 2 else "")
        rows.append((shown, f"{len(names):{width},}", "no" if harmless else "yes", why))
    return [table(rows, left=len(rows[0]))] if rows[1:] else []


def listed_by(folder: Path) -> str:
    """Say which command lists every setting."""
    return f"scheduler-sim inspect {folder} lists every setting"
